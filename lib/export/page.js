(function () {
'use strict';
const root = document.documentElement, $ = function (id) { return document.getElementById(id); };

// --- light and dark ---
const themes = ['auto', 'light', 'dark'];
function remember(theme) {
  if (theme === 'auto') delete root.dataset.theme;
  else root.dataset.theme = theme;
  $('theme').textContent = 'Theme: ' + theme;
  try { localStorage.setItem('ftraced-theme', theme); } catch (e) { /* as it is until it is closed */ }
}
$('theme').addEventListener('click', function () {
  remember(themes[(themes.indexOf(root.dataset.theme || 'auto') + 1) % themes.length]);
});
try {
  const kept = localStorage.getItem('ftraced-theme');
  if (themes.indexOf(kept) > 0) remember(kept);
} catch (e) { /* a browser that keeps nothing for files */ }

// --- search ---
const flame = document.querySelector('svg.flame');
function find(word) {
  let n = 0;
  if (flame) flame.dispatchEvent(new CustomEvent('find', { detail: word }));
  document.querySelectorAll('#tree .node').forEach(function (node) {
    const name = node.querySelector('code').textContent, hit = word !== '' && name.indexOf(word) >= 0;
    node.classList.toggle('hit', hit);
    n += hit;
    if (!hit || n > 200) return;
    for (let up = node.parentElement; up && up.id !== 'tree'; up = up.parentElement) up.open = true;
  });
  $('found').textContent = word === '' ? '' : n + (n === 1 ? ' place' : ' places') + ' in the tree';
}
let hits = -1;
$('search').addEventListener('input', function () {
  hits = -1;
  find(this.value);
});
$('search').addEventListener('keydown', function (event) {
  const all = document.querySelectorAll('#tree .hit');
  if (event.key === 'Escape') {
    this.value = '';
    find('');
    this.blur();
  } else if (event.key === 'Enter' && all.length > 0) {
    hits = (hits + (event.shiftKey ? all.length - 1 : 1)) % all.length;
    all[hits].scrollIntoView({ block: 'center' });
  }
});
document.addEventListener('keydown', function (event) {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
  event.preventDefault();
  $('search').focus();
  $('search').select();
});

// --- a window of the heat map: which of the slowest are in it ---
document.addEventListener('window', function (event) {
  const w = event.detail;
  let n = 0;
  document.querySelectorAll('.slow').forEach(function (slow) {
    const start = BigInt(slow.dataset.start), ns = +slow.dataset.duration;
    const hit = slow.querySelector('code').textContent === w.name && start >= w.from && start < w.to && ns >= w.least && ns < w.most;
    slow.classList.toggle('picked', hit);
    n += hit;
  });
  $('picked').textContent = n === 0 ? 'None of the slowest calls is in it.' :
    (n === 1 ? 'One' : n) + ' of the slowest calls ' + (n === 1 ? 'is' : 'are') + ' in it, marked below.';
});

// --- trees: arrow keys as in a file manager ---
function head(node) {
  const summary = node.querySelector(':scope > summary');
  if (!summary) node.tabIndex = -1;
  return summary || node;
}
document.querySelectorAll('#tree, #slowest').forEach(function (tree) {
  tree.addEventListener('keydown', function (event) {
    const node = event.target.closest('.node, .step, .slow');
    if (!node || event.target.tagName === 'BUTTON') return;
    const seen = Array.from(tree.querySelectorAll('.node, .step, .slow')).filter(function (n) { return head(n).checkVisibility ?
      head(n).checkVisibility({ contentVisibilityAuto: true }) && !n.parentElement.closest('details:not([open])') :
      !n.parentElement.closest('details:not([open])'); });
    const i = seen.indexOf(node);
    let to = null;
    if (event.key === 'ArrowDown') to = seen[i + 1];
    else if (event.key === 'ArrowUp') to = seen[i - 1];
    else if (event.key === 'ArrowRight' && node.tagName === 'DETAILS') {
      if (node.open) to = node.querySelector('.node, .step');
      else node.open = true;
    } else if (event.key === 'ArrowLeft') {
      if (node.open) node.open = false;
      else to = node.parentElement.closest('.node, .step, .slow');
    } else return;
    event.preventDefault();
    if (to) head(to).focus();
  });
});

// --- the source beside the tree ---
const panel = $('source');
if (panel) {
  const files = JSON.parse($('excerpts').textContent), before = 3, behind = 2;
  let chosen = null, shown = null; // what is inlined has its place in that of its function
  files.forEach(function (f) {
    f.lines = {};
    for (let i = 0; f.parts && i < f.parts.length; i += 2)
      f.parts[i + 1].split('\n').slice(0, -1).forEach(function (s, k) { f.lines[f.parts[i] + k] = s; });
  });
  const bare = function (node) { return node.querySelector('code').textContent.replace(/ \([^()]*\)$/, ''); };
  const above = function (node) { return node.parentElement.closest('#tree .node'); };
  const place = function (node, what) {
    const words = (node.dataset[what] || '').split(':');
    return words[1] ? { file: files[words[0]], line: +words[1] } : null;
  };
  const add = function (box, tag, name, text) {
    const e = box.appendChild(document.createElement(tag));
    e.className = name;
    e.textContent = text;
    return e;
  };
  const choose = function (box, node, text) {
    add(box, 'button', '', text).addEventListener('click', function () {
      for (let up = above(node); up; up = above(up)) up.open = true;
      head(node).focus();
    });
  };
  // Why the text of a place in a function is not shown.
  const lacks = function (at, owner) {
    const f = at.file, def = place(owner, 'def'), where = f.name + ':' + at.line;
    return f.problem ? f.name + ' ' + f.problem + '.' :
      def && def.file === f && f.other.includes(def.line) ? f.name + ' does not name ' + bare(owner) + ' near line ' + def.line +
        ', where it was defined: this may be another version.' :
      at.line > f.n ? f.name + ' has only ' + f.n + ' lines, and not ' + at.line + ': it is another version.' :
      at.line in f.lines ? '' : where + ' is left out: the page has no room for it.';
  };
  // What was called from the line above: a button, or what is inlined there.
  const called = function (box, node, owner, steps) {
    const figures = ' ' + node.querySelector('b').textContent + ', ' + time(+node.dataset.total);
    if (!node.dataset.in) {
      const row = add(box, 'div', 'call', '');
      choose(row, node, '\u2192 ' + (place(node, 'at') ? bare(node) : node.querySelector('code').textContent));
      row.append(figures);
      return;
    }
    const part = add(box, 'details', 'call', '');
    add(part, 'summary', '', node.dataset.in + ' ' + bare(node) + figures);
    if (node === chosen) shown = part;
    part.open = steps || node.contains(chosen) || 10 * node.dataset.total >= +owner.dataset.total;
    lines(part, node, steps);
  };
  // The lines of a function that matter, and below each what it calls; @steps: only the way to one of its calls.
  const lines = function (box, owner, steps) {
    const marks = steps ? [] : [place(owner, 'def')].filter(Boolean), said = new Set(), rest = [];
    (steps ? steps.slice(0, 1) : [...owner.querySelectorAll(':scope > .node')]).forEach(function (node) {
      const at = place(node, 'at');
      if (at) marks.push({ file: at.file, line: at.line, node: node });
      else rest.push(node);
    });
    const good = marks.filter(function (m) {
      const why = lacks(m, owner);
      if (!why) return true;
      if (!said.has(why)) add(box, 'p', 'lack', why);
      said.add(why);
      if (m.node) rest.push(m.node);
      return false;
    }).sort(function (a, b) { return files.indexOf(a.file) - files.indexOf(b.file) || a.line - b.line; });
    let file = null, last = 0, code = null;
    good.forEach(function (m, i) {
      const next = good[i + 1];
      const first = m.node ? m.line - before : m.line - 1;
      if (m.file !== file) {
        add(box, 'p', 'file', m.file.name);
        code = add(box, 'div', 'code', '');
        last = 0;
      } else if (first > last + 1) add(code, 'div', 'gap', '\u22ee');
      file = m.file;
      const end = next && next.file === file ? Math.min(m.line + behind, Math.max(next.line - 1, m.line)) : m.line + behind;
      for (let n = Math.max(first, last + 1); n <= end; n++) {
        if (!(n in file.lines)) continue;
        const row = add(code, 'div', n === m.line && m.node ? 'line at' : 'line', file.lines[n]);
        row.dataset.n = n;
        last = n;
        if (n !== m.line) continue;
        for (const same of good.slice(i)) if (same.line === n && same.file === file && same.node) called(code, same.node, owner, steps && steps.slice(1));
      }
      last = Math.max(last, m.line);
    });
    if (rest.length > 0 && !steps) add(box, 'p', 'hint', 'Not from one known line:');
    rest.forEach(function (node) { called(box, node, owner, steps && steps.slice(1)); });
  };
  const show = function (node) {
    if (!node || node === chosen) return;
    if (chosen) chosen.classList.remove('here');
    chosen = node;
    node.classList.add('here');
    while (node.dataset.in && above(node)) node = above(node);
    panel.textContent = '';
    shown = null;
    const way = [], steps = [node], path = add(panel, 'nav', '', '');
    let caller = above(node);
    for (let up = node; up; up = above(up)) if (!up.dataset.in) way.unshift(up);
    way.forEach(function (n) { choose(path, n, bare(n)); });
    for (; caller && caller.dataset.in; caller = above(caller)) steps.unshift(caller);
    if (caller) {
      add(panel, 'h3', '', bare(caller) + ' calls ' + bare(node));
      lines(panel, caller, steps);
    }
    add(panel, 'h3', '', bare(node));
    add(panel, 'p', 'hint', head(node).textContent.slice(node.querySelector('code').textContent.length));
    lines(panel, node);
    panel.scrollTop = shown ? shown.offsetTop - 40 : 0;
  };
  ['click', 'focusin'].forEach(function (what) {
    $('tree').addEventListener(what, function (event) { show(event.target.closest('.node')); });
  });
  show(document.querySelector('#tree .node'));
}

// --- the timeline of one call ---
const calls = JSON.parse($('data').textContent), W = 1180, H = 17, AXIS = 22, svgns = 'http://www.w3.org/2000/svg';
const select = $('which'), told = $('told');
let call = null, spans = [], from = 0, to = 1, at = -1, view = null;
function time(ns) {
  const units = [[1e9, ' s'], [1e6, ' ms'], [1e3, ' us']];
  for (const u of units) if (ns >= 0.99995 * u[0] || u[0] === 1e3) return (ns / u[0]).toPrecision(ns < 9.995 ? 2 : 3) + u[1];
}
// A moment on the axis, with as many digits as tell it from the next one.
function moment(ns, step) {
  const unit = to >= 1e9 ? [1e9, ' s'] : to >= 1e6 ? [1e6, ' ms'] : [1e3, ' us'];
  return '+' + (ns / unit[0]).toFixed(Math.min(Math.max(Math.ceil(Math.log10(unit[0] / step)) + 1, 0), 9)) + unit[1];
}
function make(name, attributes, text) {
  const e = document.createElementNS(svgns, name);
  for (const a in attributes) e.setAttribute(a, attributes[a]);
  if (text !== undefined) e.textContent = text;
  view.appendChild(e);
  return e;
}
function colour(name) {
  let h = 2166136261;
  for (let i = 0; i < name.length; i++) h = Math.imul(h ^ name.charCodeAt(i), 16777619) >>> 0;
  return 'rgb(' + (225 + (h % 30)) + ',' + (130 + (h >> 8) % 90) + ',' + (60 + (h >> 16) % 50) + ')';
}
function tell(i) {
  const s = spans[i];
  told.textContent = s ? s.name + ': ' + time(s.w) + ', from +' + time(s.x) + ' on' + (s.kind === 3 ? ', or longer: it was cut' : '') : '';
  view.dataset.at = s ? s.name : '';
}
function draw() {
  const scale = W / Math.max(to - from, 1), levels = spans.reduce(function (n, s) {
    return s.x < to && s.x + s.w > from ? Math.max(n, s.l + 1) : n;
  }, 1);
  view.textContent = '';
  view.setAttribute('viewBox', '0 0 ' + W + ' ' + (levels * H + AXIS + 4));
  make('rect', { class: 'paper', width: W, height: levels * H + AXIS + 4 });
  for (let i = 0; i <= 8; i++) {
    const x = W * i / 8;
    make('path', { d: 'M' + x + ' 16V' + (levels * H + AXIS) });
    make('text', { class: 'axis', x: i === 8 ? x - 4 : x + 3, y: 13, 'text-anchor': i === 8 ? 'end' : 'start' },
         moment(from + (to - from) * i / 8, (to - from) / 8));
  }
  spans.forEach(function (s, i) {
    const x = Math.max((s.x - from) * scale, 0), end = Math.min((s.x + s.w - from) * scale, W);
    if (end <= 0 || x >= W || end - x < 0.3) return;
    const r = make('rect', { class: 'kind' + s.kind + (i === at ? ' at' : ''), x: x.toFixed(2), y: AXIS + s.l * H,
                             width: Math.max(end - x, 0.5).toFixed(2), height: H - 1, 'data-i': i });
    if (s.kind === 0 || s.kind === 3) r.setAttribute('fill', colour(s.name));
    const n = Math.floor((end - x - 4) / 7.25);
    if (n >= 3) make('text', { x: x + 3, y: AXIS + s.l * H + H - 5 }, s.name.length <= n ? s.name : s.name.slice(0, n - 2) + '..');
  });
  view.dataset.from = Math.round(from);
  view.dataset.to = Math.round(to);
}
function look(a, b) {
  const whole = Math.max(call.ns, 1), length = Math.min(Math.max(b - a, 20), whole);
  from = Math.min(Math.max(a, 0), whole - length);
  to = from + length;
  draw();
}
function open(i) {
  call = calls[i];
  select.value = i;
  spans = [];
  for (let k = 0; k < call.spans.length; k += 5)
    spans.push({ x: call.spans[k], w: call.spans[k + 1], l: call.spans[k + 2], name: call.names[call.spans[k + 3]], kind: call.spans[k + 4] });
  at = -1;
  tell(-1);
  $('left').textContent = call.left > 0 ? call.left.toLocaleString('en') + ' shorter calls are left out.' : '';
  view.dataset.spans = spans.length;
  look(0, call.ns);
}
function beside(step) { // along time, at the same level
  const here = spans[at] || spans[0], same = spans.filter(function (s) { return s.l === here.l; });
  return spans.indexOf(same[same.indexOf(here) + step]);
}
function go(i) {
  const s = spans[i];
  if (!s) return;
  at = i;
  if (s.x < from || s.x + s.w > to) look(s.x + s.w / 2 - (to - from) / 2, s.x + s.w / 2 + (to - from) / 2);
  else draw();
  tell(i);
}
if (calls.length > 0) {
  view = document.createElementNS(svgns, 'svg');
  view.setAttribute('tabindex', 0);
  view.setAttribute('role', 'application');
  view.setAttribute('aria-label', 'Timeline: arrow keys move, Enter and Escape zoom, plus and minus zoom, Shift with arrows pans');
  $('timeline').appendChild(view);
  calls.forEach(function (c, i) { select.add(new Option(c.title, i)); });
  select.addEventListener('change', function () { open(+select.value); });
  view.addEventListener('mousemove', function (event) {
    if (event.target.dataset.i) tell(+event.target.dataset.i);
  });
  view.addEventListener('click', function (event) {
    const s = spans[event.target.dataset.i];
    if (!s) return;
    at = +event.target.dataset.i;
    look(s.x, s.x + s.w);
    tell(at);
  });
  view.addEventListener('wheel', function (event) {
    if (!event.ctrlKey) return;
    const box = view.getBoundingClientRect(), p = from + (to - from) * (event.clientX - box.left) / box.width;
    const f = event.deltaY > 0 ? 1.25 : 0.8;
    event.preventDefault();
    look(p - (p - from) * f, p + (to - p) * f);
  }, { passive: false });
  view.addEventListener('keydown', function (event) {
    const here = spans[at], d = (to - from) / 4, middle = (from + to) / 2;
    if (event.shiftKey && event.key === 'ArrowLeft') look(from - d, to - d);
    else if (event.shiftKey && event.key === 'ArrowRight') look(from + d, to + d);
    else if (event.key === 'ArrowLeft') go(beside(-1));
    else if (event.key === 'ArrowRight') go(here ? beside(1) : 0);
    else if (event.key === 'ArrowDown') go(here ? spans.findIndex(function (s) {
      return s.l === here.l + 1 && s.x >= here.x && s.x + s.w <= here.x + here.w; }) : 0);
    else if (event.key === 'ArrowUp') go(here ? spans.findIndex(function (s) {
      return s.l === here.l - 1 && s.x <= here.x && s.x + s.w >= here.x + here.w; }) : 0);
    else if (event.key === 'Enter' && here) look(here.x, here.x + here.w);
    else if (event.key === 'Escape') look(0, call.ns);
    else if (event.key === '+') look(middle - d, middle + d);
    else if (event.key === '-') look(middle - 4 * d, middle + 4 * d);
    else return;
    event.preventDefault();
  });
  document.querySelectorAll('.show').forEach(function (button) {
    button.addEventListener('click', function () {
      open(+button.dataset.call);
      $('timeline').scrollIntoView();
      view.focus({ preventScroll: true });
    });
  });
  open(0);
}
root.dataset.ready = 1;
}());
