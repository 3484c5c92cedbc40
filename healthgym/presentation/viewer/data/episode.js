// An episode: what was asked, the verdict with what failed first, and the turns one by one.

/** So many failed checks are told at once; the others open with a click. */
const MOST_CHECKS = 8;
const SVG = 'http://www.w3.org/2000/svg';

function svg(tag, attributes, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function badge(row) {
  const word = row.ended || (row.solved ? 'solved' : 'not solved');
  return el('span', { class: `badge ${row.solved ? 'ok' : 'no'}` }, word);
}

function signed(value) {
  return (value < 0 ? '\u2212' : '+') + Math.abs(value).toFixed(2);
}

function callParts(calls) {
  return calls.map(([name, given]) => el('div', { class: 'call' },
    el('b', {}, shown(name)), Object.keys(given).length ? laidOut(given) : ''));
}

function pictureParts(turn) {
  const found = (turn.pictures || []).map((place, number) => {
    const url = Data.picture(place);
    if (!url.startsWith('data:image/')) return null;
    const image = el('img', { alt: `picture ${number + 1}`, loading: 'lazy', src: url });
    const turned = () => {
      const large = image.classList.toggle('large');
      frame.setAttribute('aria-pressed', String(large));
    };
    const frame = el('button', { type: 'button', class: 'frame', title: 'larger or smaller', 'aria-pressed': 'false', on: { click: turned } }, image);
    return frame;
  });
  const missing = turn.missing ? el('p', { class: 'quiet' }, `${turn.missing} picture${turn.missing === 1 ? '' : 's'} not at hand`) : '';
  return found.length || missing ? [el('div', { class: 'pictures' }, ...found), missing] : [];
}

function turnParts(turn, number, progress, several) {
  const reward = turn.reward || 0;
  const facts = [`${number}.`, several ? shown(turn.role || '') : '', shown((turn.time || '').slice(0, 16).replace('T', ' '))];
  const head = el('div', { class: 'quiet head' }, facts.filter(Boolean).join(' '));
  if (reward) head.append(el('span', { class: `chip ${reward > 0 ? 'ok' : 'no'}` }, `reward ${signed(reward)}`));
  if (progress !== undefined) head.append(el('span', { class: 'chip' }, `progress ${progress.toFixed(2)}`));
  if (turn.errors) head.append(el('span', { class: 'chip no' }, `${turn.errors.length} refused`));
  return el('li', { class: 'turn', id: `turn-${number}` },
    head,
    turn.news ? el('div', { class: 'news' }, el('b', {}, 'told meanwhile'), longText(turn.news)) : '',
    turn.said ? el('div', { class: 'wrote' }, el('b', {}, turn.calls ? 'wrote' : 'wrote, without a call'), longText(turn.said)) : '',
    ...callParts(turn.calls || []),
    result(turn.result || ''),
    ...pictureParts(turn));
}

/** Reward so far, and progress where it was worked out, along the turns. */
function course(body) {
  const sums = [];
  let sum = 0;
  for (const turn of body.turns) sums.push(sum += turn.reward || 0);
  const lines = [['reward so far', 'reward', sums]];
  if (body.progress.length) lines.push(['progress', 'progress', body.progress]);
  if (sums.length < 2 || lines.every(([, , values]) => values.every((each) => each === 0))) return '';
  // Drawn at about the size at which it is shown, so that its words stay readable on a telephone.
  const [width, height, edge] = [matchMedia('(max-width: 640px)').matches ? 350 : 640, 120, 26];
  const all = [0, 1, ...lines.flatMap(([, , values]) => values)];
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const x = (place) => edge + (place * (width - 2 * edge)) / (sums.length - 1);
  const y = (value) => height - edge - ((value - low) * (height - 2 * edge)) / (high - low || 1);
  const parts = [low, high].map((value) => svg('text', { x: 0, y: y(value) + 4, class: 'tick' }, value.toFixed(1)));
  parts.push(svg('line', { x1: edge, x2: width - edge, y1: y(0), y2: y(0), class: 'axis' }));
  lines.forEach(([name, kind, values], number) => {
    const points = values.map((value, place) => `${x(place).toFixed(1)},${y(value).toFixed(1)}`).join(' ');
    parts.push(svg('polyline', { points, class: `line ${kind}` }));
    parts.push(svg('text', { x: edge + 110 * number, y: 12, class: `tick ${kind}` }, name));
  });
  parts.push(svg('text', { x: x(0), y: height - 6, class: 'tick' }, '1'));
  parts.push(svg('text', { x: width - 2, y: height - 6, class: 'tick', 'text-anchor': 'end' }, `turn ${sums.length}`));
  return svg('svg', { viewBox: `0 0 ${width} ${height}`, class: 'course', role: 'img', 'aria-label': 'reward and progress along the turns' }, ...parts);
}

function checkRows(checks) {
  return checks.map((check) => {
    const state = check.passed === true ? ['ok', '\u2713'] : check.passed === false ? ['no', '\u2717'] : ['quiet', '\u2013'];
    return el('tr', {}, el('td', { class: state[0] }, state[1]),
      el('td', {}, el('b', {}, shown(check.name).replace(/[_.]/g, '$&\u200b')), el('div', {}, shown(check.requirement || '')),
        check.detail ? el('div', { class: 'quiet' }, shown(check.detail)) : '',
        check.failure_mode && check.passed !== true ? el('span', { class: 'chip' }, shown(check.failure_mode)) : ''));
  });
}

function verdictParts(name, verdict, opened) {
  const checks = verdict.checks || [];
  const failed = checks.filter((check) => check.passed !== true);
  const passed = checks.filter((check) => check.passed === true);
  const progress = typeof verdict.progress === 'number' ? `, progress ${verdict.progress.toFixed(2)}` : '';
  const title = el('summary', {}, el('b', {}, shown(name)), ': ',
    el('span', { class: verdict.success ? 'ok' : 'no' }, verdict.success ? 'success' : 'failure'),
    `${progress}, ${passed.length} of ${checks.length} checks`);
  const parts = [];
  if (failed.length) parts.push(el('table', { class: 'checks failed' }, ...checkRows(failed.slice(0, MOST_CHECKS))));
  if (failed.length > MOST_CHECKS) {
    const rest = failed.slice(MOST_CHECKS);
    parts.push(el('details', {}, el('summary', { class: 'no' }, `${rest.length} more failed`), el('table', { class: 'checks failed' }, ...checkRows(rest))));
  }
  if (passed.length) {
    parts.push(el('details', {}, el('summary', {}, `${passed.length} passed`), el('table', { class: 'checks' }, ...checkRows(passed))));
  }
  for (const [part, inner] of Object.entries(verdict.parts || {})) parts.push(verdictParts(part, inner, !inner.success));
  if (verdict.metrics && Object.keys(verdict.metrics).length) {
    parts.push(el('details', {}, el('summary', {}, 'metrics'), laidOut(verdict.metrics)));
  }
  return el('details', { class: 'verdict', open: opened }, title, ...parts);
}

/** The verdicts, the strict one first and open. */
function verdicts(body) {
  const roles = Object.entries(body.verdicts);
  return roles.flatMap(([role, profiles]) => Object.entries(profiles)
    .sort(([one], [other]) => (other === 'strict') - (one === 'strict'))
    .map(([profile, verdict]) => verdictParts(roles.length > 1 ? `${role}, ${profile}` : profile, verdict, profile === 'strict')));
}

function answerPart(body) {
  if (!body.answer) return '';
  return el('section', { class: 'answer' }, el('h3', {}, 'What would have been right'),
    el('p', { class: 'quiet' }, 'From the verifier\u2019s half of the task, which no agent is shown: what the oracle does, and what the verifier goes by.'),
    el('ol', { class: 'turns' }, ...body.answer.calls.map((call) => el('li', { class: 'turn' }, ...callParts([call])))),
    el('details', {}, el('summary', {}, 'the verifier\u2019s half'), laidOut(body.answer.reference)));
}

/** An episode as an element. */
function episode(row, body) {
  const several = Object.keys(body.instructions).length > 1;
  const facts = [Data.kinds[row.kind], Data.runs[row.run], Data.envs[row.env], `healthgym ${body.version || '?'}`];
  return el('article', { class: 'episode' },
    el('h2', {}, shown(row.task), ' ', badge(row)),
    el('p', { class: 'quiet' }, shown(facts.filter(Boolean).join(' \u00b7 ')), ` \u00b7 reward ${row.reward.toFixed(2)}, ${row.turns} turns`),
    body.fault ? el('p', { class: 'no' }, shown(body.fault)) : '',
    ...verdicts(body),
    answerPart(body),
    ...Object.entries(body.instructions).map(([role, text]) => el('div', { class: 'task' },
      several ? el('b', {}, shown(role)) : '', longText(text))),
    course(body),
    body.turns.length ? el('ol', { class: 'turns' }, ...body.turns.map((turn, place) => turnParts(turn, place + 1, body.progress[place], several)))
      : el('p', { class: 'quiet' }, 'Nothing was done.'));
}
