// Where one is, by the address after #, and the keys.

function views(here) {
  const to = (name, href, label) => el('a', { href, 'aria-current': name === here ? 'page' : false }, label);
  return el('nav', { class: 'views', 'aria-label': 'views' }, to('list', '#/', 'Episodes'),
    Data.runs.length > 1 ? to('compare', `#/compare/${Compared.one}/${Compared.other}`, 'Compare two runs') : '',
    el('button', { type: 'button', class: 'more', id: 'keys', on: { click: help } }, 'keys'));
}

async function episodeView(number) {
  const body = await Data.body(number);
  if (!listed.some((row) => row.number === number)) listed = selection();
  const place = listed.findIndex((row) => row.number === number);
  const step = (to, label, id) => {
    const row = listed[to];
    return row === undefined ? el('span', { class: 'quiet' }, label) : el('a', { href: `#/episode/${row.number}`, id }, label);
  };
  const nav = el('nav', { class: 'views', 'aria-label': 'episodes' }, el('a', { href: '#/', class: 'back' }, '\u2190 all episodes'),
    step(place - 1, 'previous', 'previous'), step(place + 1, 'next', 'next'));
  if (place >= 0) {
    chosen = place;
    page = Math.floor(place / PAGE);
  }
  const others = Data.rows.filter((row) => row.of === Data.rows[number].of && row.number !== number).slice(0, 12);
  const beside = others.length ? el('p', { class: 'quiet' }, 'The same task: ', ...others.flatMap((row) => [
    el('a', { href: `#/pair/${number}/${row.number}` }, shown(Data.runs[row.run]), row.attempt ? ` (attempt ${row.attempt + 1})` : ''), ' ', badge(row), ' '])) : '';
  document.getElementById('app').replaceChildren(nav, beside, episode(Data.rows[number], body));
}

let before = null;

async function route() {
  const [name, ...numbers] = location.hash.replace(/^#\//, '').split('/');
  const [one, other] = numbers.map(Number);
  const row = (number) => Number.isInteger(number) && number >= 0 && number < Data.rows.length;
  const run = (number) => Number.isInteger(number) && number >= 0 && number < Data.runs.length;
  const report = document.querySelector('.report');
  if (report) report.hidden = name !== '';
  if (name === 'episode' && row(one)) await episodeView(one);
  else if (name === 'pair' && row(one) && row(other)) await pairView(one, other);
  else if (name === 'compare' && run(one) && run(other)) compareView(one, other);
  else listView();
  // Whoever comes back to the table finds the row again; whoever opens the page begins at its top.
  if (name) window.scrollTo(0, 0);
  else if (before) document.querySelector('tr.chosen')?.scrollIntoView({ block: 'center' });
  before = name;
}

const KEYS = [['/', 'search'], ['j, k', 'next or previous row, turn by turn in an episode'], ['Enter, o', 'open the row'],
  ['n, p', 'next or previous episode, or page'], ['c', 'compare two runs'], ['u, Escape', 'back to all episodes'], ['?', 'these keys']];

function help() {
  const open = document.getElementById('help');
  if (open) {
    open.remove();
    return;
  }
  const made = el('dialog', { id: 'help' }, el('dl', { class: 'values' }, ...KEYS.flatMap(([key, what]) => [el('dt', {}, key), el('dd', {}, what)])),
    el('button', { type: 'button', on: { click: () => made.remove() } }, 'close'));
  made.addEventListener('close', () => made.remove());
  document.body.append(made);
  made.showModal();
}

function moved(by) {
  if (!listed.length || !document.querySelector('table.episodes tbody')) return;
  chosen = Math.max(0, Math.min(listed.length - 1, chosen + by));
  if (Math.floor(chosen / PAGE) !== page) {
    page = Math.floor(chosen / PAGE);
    listView();
  }
  for (const row of document.querySelectorAll('tr.chosen')) row.classList.remove('chosen');
  const row = document.querySelector(`tr[data-place="${chosen}"]`);
  if (row) {
    row.classList.add('chosen');
    row.scrollIntoView({ block: 'nearest' });
  }
}

function nextTurn(by) {
  const turns = [...document.querySelectorAll('.turns > .turn')];
  const at = turns.findIndex((turn) => turn.getBoundingClientRect().top > 2);
  const here = at < 0 ? turns.length : at;
  // The first turn below the edge is the next one; the one above is what is being read.
  const near = turns[here] && turns[here].getBoundingClientRect().top < 12 ? here : here - 1;
  turns[Math.max(0, Math.min(turns.length - 1, near + by))]?.scrollIntoView({ block: 'start' });
}

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return;
  const typing = event.target instanceof Element && event.target.closest('input, select, textarea');
  const listing = document.querySelector('table.episodes[class="episodes"]') !== null;
  if (typing) {
    if (event.key === 'Escape') event.target.blur();
    return;
  }
  const press = (id) => document.getElementById(id)?.click();
  const turned = (by) => {
    if (!listing) press(by > 0 ? 'next' : 'previous');
    else document.querySelector(`.pager button:${by > 0 ? 'last' : 'first'}-of-type`)?.click();
  };
  const keys = {
    '/': () => {
      if (!listing) location.hash = '#/';
      setTimeout(() => document.getElementById('search')?.focus(), 0);
    },
    j: () => (listing ? moved(1) : nextTurn(1)),
    k: () => (listing ? moved(-1) : nextTurn(-1)),
    o: () => listing && listed[chosen] && (location.hash = `#/episode/${listed[chosen].number}`),
    n: () => turned(1),
    p: () => turned(-1),
    c: () => Data.runs.length > 1 && (location.hash = `#/compare/${Compared.one}/${Compared.other}`),
    u: () => { location.hash = document.querySelector('.back')?.getAttribute('href') || '#/'; },
    '?': help,
  };
  keys.Escape = keys.u;
  // On a link or a button Enter does what it always does.
  if (!(event.target instanceof Element && event.target.closest('a, button, summary'))) keys.Enter = keys.o;
  if (keys[event.key]) {
    event.preventDefault();
    keys[event.key]();
  }
});

// On paper all is open.
window.addEventListener('beforeprint', () => {
  for (const each of document.querySelectorAll('details:not([open])')) {
    each.open = true;
    each.dataset.printed = '';
  }
});
window.addEventListener('afterprint', () => {
  for (const each of document.querySelectorAll('details[data-printed]')) {
    each.open = false;
    delete each.dataset.printed;
  }
});

const answers = document.getElementById('answers');
if (answers) {
  answers.checked = false;
  answers.addEventListener('change', () => document.body.classList.toggle('answers', answers.checked));
}

Data.open().then(() => {
  const asked = JSON.parse(document.getElementById('app').dataset.compare);
  if (asked) asked.forEach((name, place) => { Compared[place ? 'other' : 'one'] = Math.max(0, Data.runs.indexOf(name)); });
  else if (Data.runs.length < 2) Compared.other = 0;
  window.addEventListener('hashchange', route);
  return route();
}).catch((error) => {
  document.getElementById('app').replaceChildren(el('p', { class: 'warning' }, `The episodes cannot be shown: ${error.message}. This page needs a browser of 2023 or later.`));
});
