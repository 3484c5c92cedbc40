// Results of tools: their text, with what is a table in it shown as one.

const BAR = / \| | \|$/;
const RULE = /^\s*\|?\s*:?-{3,}:?\s*(\|\s*:?-{3,}:?\s*)+\|?\s*$/;

function cellsOf(line) {
  const bare = line.trim();
  // Markdown has bars at both ends; where they are only between cells the last one may be empty.
  const cells = bare.startsWith('| ') ? bare.slice(1).replace(/\|$/, '').split('|') : `${bare} `.split(' | ');
  return cells.map((each) => each.trim());
}

function indentOf(line) {
  return line.length - line.trimStart().length;
}

/** Whether the first row of a table names its columns: short words, and no figure among them. */
function isHeading(cells) {
  return cells.every((each) => /^[A-Za-z_][\w ().%/-]{0,40}$/.test(each) && !/\d{3}/.test(each));
}

/** The table that begins at a line, with the lines it takes; null if none does. */
function tableAt(lines, start) {
  if (!BAR.test(lines[start])) return null;
  const indent = indentOf(lines[start]);
  const width = cellsOf(lines[start]).length;
  if (width < 2) return null;
  const rows = [];
  let end = start;
  let marked = false;
  for (; end < lines.length; end += 1) {
    const line = lines[end];
    if (RULE.test(line)) {
      marked = rows.length === 1;
      continue;
    }
    const cells = cellsOf(line);
    if (BAR.test(line) && indentOf(line) === indent && cells.length === width) rows.push({ cells });
    // A line further in belongs to the row above it.
    else if (rows.length > 1 && line.trim() && indentOf(line) > indent) rows.push({ note: line.trim() });
    else break;
  }
  if (rows.filter((row) => row.cells).length < 2) return null;
  const head = marked || isHeading(rows[0].cells) ? rows.shift().cells : null;
  return { head, rows, end, width };
}

function drawn(found) {
  const parts = [];
  if (found.head) parts.push(el('thead', {}, el('tr', {}, ...found.head.map((each) => el('th', {}, shown(each))))));
  parts.push(el('tbody', {}, ...found.rows.map((row) => (row.cells
    ? el('tr', {}, ...row.cells.map((each) => el('td', { class: each.length < 25 ? 'short' : false }, shown(each))))
    : el('tr', { class: 'further' }, el('td', { colspan: found.width }, shown(row.note)))))));
  return el('div', { class: 'scroll' }, el('table', { class: 'cells' }, ...parts));
}

/** A result as elements: JSON laid out, tables drawn, all else as the agent read it. */
function resultParts(text) {
  const trimmed = text.trim();
  if (/^[[{]/.test(trimmed) && /[\]}]$/.test(trimmed)) {
    try {
      return { parts: [laidOut(JSON.parse(trimmed))], changed: true };
    } catch (error) {
      // It only looked like JSON, and is shown as text.
    }
  }
  const lines = text.split('\n');
  const parts = [];
  let plain = [];
  let changed = false;
  const flush = () => {
    if (plain.some((line) => line.trim())) parts.push(el('div', { class: 'said' }, longText(plain.join('\n'))));
    plain = [];
  };
  for (let place = 0; place < lines.length;) {
    const found = tableAt(lines, place);
    if (found === null) {
      plain.push(lines[place]);
      place += 1;
    } else {
      flush();
      parts.push(drawn(found));
      changed = true;
      place = found.end;
    }
  }
  flush();
  return { parts, changed };
}

/** A result with a switch between its layout and the text as it was sent. */
function result(text) {
  const { parts, changed } = resultParts(text);
  const box = el('div', { class: 'result' });
  if (!changed) {
    box.append(...parts);
    return box;
  }
  const raw = el('pre', { hidden: true }, shown(text));
  const layout = el('div', {}, ...parts);
  const swap = el('button', { type: 'button', class: 'more swap', on: { click: () => {
    raw.hidden = !raw.hidden;
    layout.hidden = !raw.hidden;
    swap.textContent = raw.hidden ? 'as sent' : 'laid out';
  } } }, 'as sent');
  box.append(swap, layout, raw);
  return box;
}
