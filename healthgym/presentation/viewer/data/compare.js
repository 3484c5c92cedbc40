// Two runs on the same tasks: how they differ, and any two episodes beside each other.

const Compared = { one: 0, other: 1, kind: 'differ' };

const KINDS = {
  differ: ['differ', ([one, other]) => one.solved !== other.solved],
  gained: ['only the second solves', ([one, other]) => !one.solved && other.solved],
  lost: ['only the first solves', ([one, other]) => one.solved && !other.solved],
  both: ['both solve', ([one, other]) => one.solved && other.solved],
  neither: ['neither solves', ([one, other]) => !one.solved && !other.solved],
  all: ['all', () => true],
};

/** Pairs of episodes of two runs: the same task, and the same attempt at it. */
function pairs() {
  const key = (row) => `${row.of}\n${row.attempt}`;
  const others = new Map(Data.rows.filter((row) => row.run === Compared.other).map((row) => [key(row), row]));
  return Data.rows.filter((row) => row.run === Compared.one && others.has(key(row))).map((row) => [row, others.get(key(row))]);
}

function runChoice(name, label) {
  const box = el('select', { id: `compare-${name}`, on: { change: () => {
    Compared[name] = Number(box.value);
    location.hash = `#/compare/${Compared.one}/${Compared.other}`;
  } } }, ...Data.runs.map((run, place) => el('option', { value: place }, shown(run))));
  box.value = String(Compared[name]);
  return el('label', {}, label, box);
}

/** Shows two runs beside each other. */
function compareView(one, other) {
  Object.assign(Compared, { one, other });
  const all = pairs();
  const below = el('div', {});
  const show = () => {
    const found = all.filter(KINDS[Compared.kind][1]);
    listed = [];
    const rows = found.slice(0, 500).map(([first, second]) => el('tr', {},
      el('td', { class: 'task' }, el('a', { href: `#/pair/${first.number}/${second.number}` }, shown(first.task))),
      el('td', { class: 'kind' }, shown(Data.kinds[first.kind])),
      ...[first, second].flatMap((row) => [el('td', { class: 'outcome' }, badge(row)), el('td', { class: 'number' }, row.reward.toFixed(2))])));
    below.replaceChildren(
      el('p', { role: 'status', id: 'count' }, `${found.length.toLocaleString('en')} of ${all.length.toLocaleString('en')} pairs${found.length > 500 ? '; the first 500' : ''}`),
      el('table', { class: 'episodes pairs' }, el('thead', {}, el('tr', {}, ...['task', 'type', Data.runs[one], 'reward', Data.runs[other], 'reward'].map((name) => el('th', {}, shown(name))))), el('tbody', {}, ...rows)));
  };
  const parts = [views('compare'), el('form', { class: 'filters', on: { submit: (event) => event.preventDefault() } }, runChoice('one', 'first'), runChoice('other', 'second'))];
  if (!all.length) parts.push(el('p', { id: 'count' }, 'These two have no task in common.'));
  else {
    const found = difference(all);
    const sign = (value) => `${value < 0 ? '\u2212' : '+'}${Math.abs(100 * value).toFixed(1)}`;
    const counts = ['gained', 'lost', 'both', 'neither'].map((name) => all.filter(KINDS[name][1]).length);
    parts.push(el('p', { class: 'lead', id: 'difference' }, shown(Data.runs[other]), ' against ', shown(Data.runs[one]), ': ',
      el('b', {}, `${sign(found.estimate)} points`), ` [${sign(found.low)}, ${sign(found.high)}] on ${found.tasks} tasks.`));
    parts.push(el('p', { class: 'quiet' }, `${percent(share(all.map(([, row]) => row)))} against ${percent(share(all.map(([row]) => row)))}; 95 % intervals.`));
    const names = Object.keys(KINDS);
    if (!all.some(KINDS[Compared.kind][1])) Compared.kind = 'all';
    parts.push(el('div', { class: 'tabs', role: 'group', 'aria-label': 'which pairs' }, ...names.map((name) => {
      const count = { gained: counts[0], lost: counts[1], both: counts[2], neither: counts[3], differ: counts[0] + counts[1], all: all.length }[name];
      const tab = el('button', { type: 'button', 'data-kind': name, 'aria-pressed': String(name === Compared.kind), on: { click: () => {
        Compared.kind = name;
        for (const each of tab.parentNode.children) each.setAttribute('aria-pressed', String(each === tab));
        show();
      } } }, `${KINDS[name][0]} (${count})`);
      return tab;
    })));
    show();
  }
  document.getElementById('app').replaceChildren(...parts, below);
}

/** Shows two episodes beside each other. */
async function pairView(one, other) {
  const bodies = [await Data.body(one), await Data.body(other)];
  const columns = [one, other].map((number, place) => el('div', {}, el('h3', { class: 'run' }, shown(Data.runs[Data.rows[number].run])), episode(Data.rows[number], bodies[place])));
  document.getElementById('app').replaceChildren(
    el('nav', { class: 'views' }, el('a', { href: `#/compare/${Data.rows[one].run}/${Data.rows[other].run}`, class: 'back' }, '\u2190 both runs')),
    el('div', { class: 'beside' }, ...columns));
}
