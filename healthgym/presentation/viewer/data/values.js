// JSON values laid out: objects as names and values, lists of objects as tables, text as text.

const LONG = 1200;

function isPlain(value) {
  return value === null || typeof value !== 'object';
}

function scalar(value) {
  if (value === null) return el('span', { class: 'quiet' }, 'null');
  if (typeof value === 'string') return longText(value);
  return el('span', { class: 'number' }, String(value));
}

/** A text as it was meant: line ends are lines, and a long one opens with a click. */
function longText(text) {
  if (text === '') return el('span', { class: 'quiet' }, 'empty');
  if (text.length <= LONG) return el('span', { class: 'text' }, shown(text));
  const rest = el('span', { class: 'text', hidden: true }, shown(text.slice(LONG)));
  const more = el('button', { type: 'button', class: 'more', on: { click: () => {
    rest.hidden = false;
    more.remove();
  } } }, `… ${(text.length - LONG).toLocaleString('en')} more characters`);
  return el('span', {}, el('span', { class: 'text' }, shown(text.slice(0, LONG))), rest, more);
}

function laidOut(value, depth = 0) {
  if (isPlain(value)) return scalar(value);
  if (depth > 12) return el('code', {}, shown(JSON.stringify(value)).slice(0, LONG));
  if (Array.isArray(value)) {
    if (value.length === 0) return el('span', { class: 'quiet' }, 'none');
    if (value.every(isPlain)) return el('span', { class: 'text' }, shown(value.map(String).join(', ')));
    if (value.every((each) => each !== null && typeof each === 'object' && !Array.isArray(each))) {
      return objectsTable(value, depth);
    }
    if (value.every((each) => Array.isArray(each) && each.length < 9 && each.every(isPlain))) {
      return el('span', { class: 'text' }, shown(value.map((each) => `(${each.join(', ')})`).join(' ')));
    }
    return el('ol', { class: 'values' }, ...value.map((each) => el('li', {}, laidOut(each, depth + 1))));
  }
  const names = Object.keys(value);
  if (names.length === 0) return el('span', { class: 'quiet' }, 'nothing');
  return el('dl', { class: 'values' }, ...names.flatMap((name) => [
    el('dt', {}, shown(name)), el('dd', {}, laidOut(value[name], depth + 1)),
  ]));
}

function objectsTable(values, depth) {
  const names = [...new Set(values.flatMap((each) => Object.keys(each)))];
  if (names.length > 14) {
    return el('ol', { class: 'values' }, ...values.map((each) => el('li', {}, laidOut(each, depth + 1))));
  }
  const rows = values.map((each) => names.map((name) => (name in each ? laidOut(each[name], depth + 1) : '')));
  return table(names, rows);
}

/** A table of cells, which are elements or text, with a heading or without. */
function table(head, rows) {
  const cell = (tag, content) => (content instanceof Node
    ? el(tag, { class: content.textContent.length < 25 ? 'short' : false }, content) : el(tag, {}, shown(content)));
  const parts = [];
  if (head) parts.push(el('thead', {}, el('tr', {}, ...head.map((name) => cell('th', name)))));
  parts.push(el('tbody', {}, ...rows.map((row) => el('tr', {}, ...row.map((each) => cell('td', each))))));
  return el('div', { class: 'scroll' }, el('table', { class: 'cells' }, ...parts));
}
