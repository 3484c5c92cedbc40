// What the page holds: the index of its episodes, their packed blocks, and pictures.

/** Makes an element. Text is always text: nothing here or below ever parses markup. */
function el(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === 'on') {
      for (const [event, act] of Object.entries(value)) made.addEventListener(event, act);
    } else if (value === true) made.setAttribute(name, '');
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined && child !== ''));
  return made;
}

// Characters that turn, hide or move what stands beside them are written out instead.
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g;

/** Returns a recorded text as it may be shown. */
function shown(text) {
  return String(text).replace(UNSEEN, (one) => `\u27e8${one.charCodeAt(0).toString(16).padStart(4, '0')}\u27e9`);
}

async function unpacked(id) {
  const text = document.getElementById(id).textContent;
  const bytes = Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return new Response(stream).text();
}

/** The columns of a row of the index, in the order in which records.py writes them. */
const COLUMNS = ['run', 'env', 'kind', 'task', 'solved', 'reward', 'turns', 'refused', 'images', 'failed', 'ended'];

const Data = {
  rows: [],
  runs: [],
  envs: [],
  kinds: [],
  checks: [],
  chunk: 1,
  _held: new Map(),

  async open() {
    const index = JSON.parse(await unpacked('index'));
    for (const name of ['runs', 'envs', 'kinds', 'checks', 'chunk']) this[name] = index[name];
    this.rows = index.rows.map((values, number) => {
      const row = Object.fromEntries(COLUMNS.map((name, place) => [name, values[place]]));
      row.number = number;
      row.text = [row.task, this.kinds[row.kind], this.runs[row.run], row.ended]
        .concat(row.failed.map((place) => this.checks[place])).join('\n').toLowerCase();
      return row;
    });
    // The attempts of a run at a task are numbered in their order.
    const attempts = new Map();
    for (const row of this.rows) {
      row.of = `${this.envs[row.env]}\n${row.task}`;
      const key = `${row.run}\n${row.of}`;
      row.attempt = attempts.get(key) || 0;
      attempts.set(key, row.attempt + 1);
    }
  },

  blocks() {
    return Math.ceil(this.rows.length / this.chunk);
  },

  /** Returns the lines of a block, one an episode; the last few blocks are held. */
  async lines(block) {
    if (!this._held.has(block)) {
      this._held.set(block, unpacked(`block-${block}`).then((text) => text.split('\n')));
      if (this._held.size > 6) this._held.delete(this._held.keys().next().value);
    }
    return this._held.get(block);
  },

  async body(number) {
    const lines = await this.lines(Math.floor(number / this.chunk));
    return JSON.parse(lines[number % this.chunk]);
  },

  picture(place) {
    const held = document.getElementById(`picture-${place}`);
    return held === null ? '' : held.textContent;
  },
};
