// The table of episodes: filters, search, totals of what is chosen, and the rows page by page.

const PAGE = 100;

const Filter = {
  run: '', env: '', kind: '', outcome: '', failed: '', low: '', high: '', shortest: '', longest: '', text: '',
  order: 'number', down: false,
};
/** The episodes whose text holds what is searched for; null while nothing is, or not all was read. */
const Found = { text: '', numbers: null, task: 0 };
let page = 0;
let chosen = 0;

const OUTCOMES = {
  solved: (row) => row.solved,
  'not solved': (row) => !row.solved,
  'stopped or failed': (row) => row.ended !== '',
  refused: (row) => row.refused > 0,
};

function matches(row) {
  const at = (name) => Filter[name] === '' || Number(Filter[name]) === row[name];
  const above = (bound, value) => bound === '' || value >= Number(bound);
  const below = (bound, value) => bound === '' || value <= Number(bound);
  return at('run') && at('env') && at('kind')
    && (Filter.outcome === '' || OUTCOMES[Filter.outcome](row))
    && (Filter.failed === '' || row.failed.includes(Number(Filter.failed)))
    && above(Filter.low, row.reward) && below(Filter.high, row.reward)
    && above(Filter.shortest, row.turns) && below(Filter.longest, row.turns)
    && (Filter.text === '' || row.text.includes(Filter.text) || (Found.text === Filter.text && Found.numbers.has(row.number)));
}

/** The rows chosen, in the order asked for. */
function selection() {
  const rows = Data.rows.filter(matches);
  const value = { failed: (row) => row.failed.length, kind: (row) => Data.kinds[row.kind], run: (row) => Data.runs[row.run] }[Filter.order]
    || ((row) => row[Filter.order]);
  const sign = Filter.down ? -1 : 1;
  return rows.sort((one, other) => {
    const [a, b] = [value(one), value(other)];
    return (a < b ? -sign : a > b ? sign : 0) || one.number - other.number;
  });
}

function leaves(value, seek) {
  if (typeof value === 'string') return value.toLowerCase().includes(seek);
  if (value === null || typeof value !== 'object') return String(value).includes(seek);
  return Object.values(value).some((each) => leaves(each, seek))
    || (!Array.isArray(value) && Object.keys(value).some((name) => name.toLowerCase().includes(seek)));
}

/** What of an episode is read by a search: what was asked, done, answered and found. */
function said(body) {
  return [body.instructions, body.turns.map((turn) => [turn.calls, turn.said, turn.result, turn.news, turn.errors].map((each) => each || '')), body.verdicts];
}

/** Reads the text of all episodes, block by block, so that the page goes on answering. */
async function searchAll(text, tell) {
  const mine = Found.task += 1;
  const numbers = new Set();
  // JSON is ASCII: a line is first looked through as it is, and only then read.
  const escaped = JSON.stringify(text).slice(1, -1).replace(/[\u0080-\uffff]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const ascii = escaped === text;
  let paused = performance.now();
  for (let block = 0; block < Data.blocks(); block += 1) {
    const lines = await unpacked(`block-${block}`);
    if (mine !== Found.task) return false;
    if (!ascii || lines.toLowerCase().includes(text)) {
      lines.split('\n').forEach((line, place) => {
        if (ascii && !line.toLowerCase().includes(text)) return;
        if (leaves(said(JSON.parse(line)), text)) numbers.add(block * Data.chunk + place);
      });
    }
    if (performance.now() - paused > 60) {
      tell(`reading ${Math.round((100 * block) / Data.blocks())} %`);
      await new Promise((done) => { setTimeout(done, 0); });
      paused = performance.now();
    }
  }
  Object.assign(Found, { text, numbers });
  tell('');
  return true;
}

function select(name, label, options, change) {
  const box = el('select', { id: `filter-${name}`, on: { change: () => {
    Filter[name] = box.value;
    change();
  } } }, el('option', { value: '' }, 'any'), ...options.map(([value, text]) => el('option', { value }, shown(text).slice(0, 90))));
  box.value = Filter[name];
  return el('label', {}, label, box);
}

function bound(name, label, change) {
  const box = el('input', { type: 'number', step: 'any', id: `filter-${name}`, placeholder: label, 'aria-label': label, on: { input: () => {
    Filter[name] = box.value;
    change();
  } } });
  box.value = Filter[name];
  return box;
}

function counted(name) {
  const counts = new Map();
  for (const row of Data.rows) for (const place of [row[name]].flat()) counts.set(place, (counts.get(place) || 0) + 1);
  return [...counts].sort(([, one], [, other]) => other - one).map(([place, count]) => [String(place), count]);
}

function filters(change) {
  const several = (name, words, label) => (words.length > 1
    ? select(name, label, words.map((word, place) => [String(place), word || 'without an id']), change) : '');
  const state = el('span', { class: 'quiet', id: 'searching', role: 'status' });
  let waiting = 0;
  const search = el('input', { type: 'search', id: 'search', placeholder: 'search tasks, actions, results, checks', 'aria-label': 'search', on: { input: () => {
    Filter.text = search.value.trim().toLowerCase();
    change();
    clearTimeout(waiting);
    Found.task += 1;
    if (Filter.text.length > 1 && Found.text !== Filter.text) {
      waiting = setTimeout(() => searchAll(Filter.text, (text) => { state.textContent = text; }).then((all) => all && change()), 250);
    } else state.textContent = '';
  } } });
  search.value = Filter.text;
  const clear = el('button', { type: 'button', id: 'clear', on: { click: () => {
    for (const name of ['run', 'env', 'kind', 'outcome', 'failed', 'low', 'high', 'shortest', 'longest', 'text']) Filter[name] = '';
    listView();
  } } }, 'clear');
  return el('form', { class: 'filters', role: 'search', on: { submit: (event) => event.preventDefault() } },
    el('div', { class: 'wide' }, search, state),
    several('run', Data.runs, 'run'), several('env', Data.envs, 'environment'), several('kind', Data.kinds, 'type'),
    select('outcome', 'outcome', Object.keys(OUTCOMES).map((name) => [name, name]), change),
    Data.checks.length ? select('failed', 'failed check', counted('failed').map(([place, count]) => [place, `${Data.checks[place]} (${count})`]), change) : '',
    el('span', { class: 'range' }, 'reward', bound('low', 'from', change), bound('high', 'to', change)),
    el('span', { class: 'range' }, 'turns', bound('shortest', 'from', change), bound('longest', 'to', change)),
    clear);
}

function totalRow(name, rows) {
  const rewards = reward(rows);
  const average = (column) => mean(rows.map((row) => row[column])).toFixed(1);
  const solvedShare = share(rows);
  return [name, String(rows.length), String(solvedShare.tasks), percent(solvedShare), figure(rewards), average('turns'), average('refused')];
}

function grouped(rows, column, words) {
  const groups = new Map();
  for (const row of rows) {
    if (!groups.has(row[column])) groups.set(row[column], []);
    groups.get(row[column]).push(row);
  }
  return [...groups].map(([place, of]) => [words[place], of]);
}

function totals(rows) {
  if (!rows.length) return el('p', { id: 'totals' }, 'No episode is like that.');
  const head = ['', 'episodes', 'tasks', 'solved [95 %]', 'reward [95 %]', 'turns', 'refused'];
  const runs = grouped(rows, 'run', Data.runs).map(([name, of]) => totalRow(name, of));
  if (runs.length > 1) runs.push(totalRow('all', rows));
  const kinds = grouped(rows, 'kind', Data.kinds);
  const numbers = (lines) => {
    const made = table(head, lines);
    made.firstChild.className = 'numbers';
    return made;
  };
  return el('div', { id: 'totals' }, numbers(runs),
    kinds.length > 1 ? el('details', {}, el('summary', {}, 'by type'),
      numbers(kinds.map(([name, of]) => totalRow(name, of)).sort((a, b) => (a[0] < b[0] ? -1 : 1)))) : '');
}

const HEAD = [['number', '#'], ['task', 'task'], ['kind', 'type'], ['run', 'run'], ['solved', 'outcome'], ['failed', 'failed checks'], ['reward', 'reward'], ['turns', 'turns']];

function headings(change) {
  return el('thead', {}, el('tr', {}, ...HEAD.filter(([name]) => name !== 'run' || Data.runs.length > 1).map(([name, label]) => {
    const sorted = Filter.order === name ? (Filter.down ? 'descending' : 'ascending') : 'none';
    return el('th', { 'aria-sort': sorted }, el('button', { type: 'button', on: { click: () => {
      Filter.down = Filter.order === name && !Filter.down;
      Filter.order = name;
      change();
    } } }, label, sorted === 'none' ? '' : Filter.down ? ' \u2193' : ' \u2191'));
  })));
}

function rowParts(row, place) {
  const failed = row.failed.slice(0, 3).map((check) => el('span', { class: 'chip' }, shown(Data.checks[check])));
  if (row.failed.length > 3) failed.push(el('span', { class: 'quiet' }, `+${row.failed.length - 3}`));
  const cells = [
    el('td', { class: 'at' }, String(row.number + 1)),
    el('td', { class: 'task' }, el('a', { href: `#/episode/${row.number}` }, shown(row.task)), row.attempt ? el('span', { class: 'quiet' }, ` attempt ${row.attempt + 1}`) : ''),
    el('td', { class: 'kind' }, shown(Data.kinds[row.kind])),
    Data.runs.length > 1 ? el('td', { class: 'run' }, shown(Data.runs[row.run])) : '',
    el('td', { class: 'outcome' }, badge(row)),
    el('td', { class: 'failed' }, ...failed),
    el('td', { class: 'number', 'data-name': 'reward' }, row.reward.toFixed(2)),
    el('td', { class: 'number', 'data-name': 'turns' }, String(row.turns), row.refused ? el('span', { class: 'no', title: 'refused' }, ` \u2212${row.refused}`) : ''),
  ];
  return el('tr', { class: place === chosen ? 'chosen' : '', 'data-place': place }, ...cells);
}

let listed = [];

/** Shows the list of episodes. */
function listView() {
  const app = document.getElementById('app');
  const below = el('div', { id: 'below' });
  const show = () => {
    listed = selection();
    page = Math.min(page, Math.max(0, Math.ceil(listed.length / PAGE) - 1));
    chosen = Math.min(chosen, Math.max(0, listed.length - 1));
    const first = page * PAGE;
    const rows = listed.slice(first, first + PAGE).map((row, place) => rowParts(row, first + place));
    below.replaceChildren(totals(listed), pager(show),
      el('table', { class: 'episodes' }, headings(show), el('tbody', {}, ...rows)));
  };
  const change = () => {
    page = 0;
    chosen = 0;
    show();
  };
  app.replaceChildren(views('list'), filters(change), below);
  show();
}

function pager(show) {
  const last = Math.max(0, Math.ceil(listed.length / PAGE) - 1);
  const turn = (to, label) => el('button', { type: 'button', disabled: to < 0 || to > last, on: { click: () => {
    page = to;
    chosen = page * PAGE;
    show();
  } } }, label);
  const told = `${listed.length.toLocaleString('en')} of ${Data.rows.length.toLocaleString('en')} episodes`;
  return el('nav', { class: 'pager', 'aria-label': 'pages' }, el('span', { id: 'count', role: 'status' }, told),
    ...(last ? [turn(page - 1, '\u2190'), `page ${page + 1} of ${last + 1}`, turn(page + 1, '\u2192')] : []));
}
