// Shares and means with 95 % intervals.

const Z = 1.959963984540054;

/** Wilson's interval of a share of n, which may be a share of an effective number. */
function wilson(p, n) {
  const centre = (p + (Z * Z) / (2 * n)) / (1 + (Z * Z) / n);
  const half = (Z / (1 + (Z * Z) / n)) * Math.sqrt((p * (1 - p)) / n + (Z * Z) / (4 * n * n));
  return [Math.max(0, p === 0 ? 0 : centre - half), Math.min(1, p === 1 ? 1 : centre + half)];
}

function byTask(rows, value) {
  const groups = new Map();
  for (const row of rows) {
    if (!groups.has(row.of)) groups.set(row.of, []);
    groups.get(row.of).push(value(row));
  }
  return [...groups.values()].map((values) => values.reduce((a, b) => a + b, 0) / values.length);
}

function mean(values) {
  return values.reduce((a, b) => a + b, 0) / values.length;
}

function variance(values) {
  const middle = mean(values);
  return values.length < 2 ? 0 : values.reduce((sum, each) => sum + (each - middle) ** 2, 0) / (values.length - 1);
}

/** Share of tasks solved, each task weighing the same. Attempts at one task are not independent:
 * where there are several, Wilson's interval takes the number of tasks that would vary as much. */
function share(rows) {
  const tasks = byTask(rows, (row) => row.solved);
  const p = mean(tasks);
  const spread = variance(tasks) / tasks.length;
  const single = tasks.length === rows.length || spread === 0;
  const n = single ? tasks.length : Math.max(tasks.length, Math.min(rows.length, (p * (1 - p)) / spread));
  const [low, high] = wilson(p, n);
  return { estimate: p, low, high, tasks: tasks.length };
}

/** Mean reward of tasks; the interval is normal, and needs some number of them. */
function reward(rows) {
  const tasks = byTask(rows, (row) => row.reward);
  const middle = mean(tasks);
  const half = Z * Math.sqrt(variance(tasks) / tasks.length);
  return { estimate: middle, low: middle - half, high: middle + half };
}

/** Difference of two runs on the same tasks. One attempt each: Agresti and Min's interval of paired
 * shares (2005), which adds half a pair to each of the four kinds. Several: normal, over tasks. */
function difference(pairs) {
  const groups = new Map();
  for (const [one, other] of pairs) {
    if (!groups.has(one.of)) groups.set(one.of, []);
    groups.get(one.of).push(other.solved - one.solved);
  }
  const changes = [...groups.values()].map(mean);
  const n = changes.length;
  if (n === pairs.length) {
    const gained = changes.filter((each) => each > 0).length + 0.5;
    const lost = changes.filter((each) => each < 0).length + 0.5;
    const middle = (gained - lost) / (n + 2);
    const half = (Z * Math.sqrt(gained + lost - (gained - lost) ** 2 / (n + 2))) / (n + 2);
    return { estimate: mean(changes), low: Math.max(-1, middle - half), high: Math.min(1, middle + half), tasks: n };
  }
  const half = Z * Math.sqrt(variance(changes) / n);
  return { estimate: mean(changes), low: mean(changes) - half, high: mean(changes) + half, tasks: n };
}

function percent(found) {
  const each = (value) => (100 * value).toFixed(1);
  return `${each(found.estimate)} % [${each(found.low)}, ${each(found.high)}]`;
}

function figure(found) {
  return `${found.estimate.toFixed(3)} [${found.low.toFixed(3)}, ${found.high.toFixed(3)}]`;
}
