(function () {
'use strict';
const svg = document.querySelector('svg.flame');
if (!svg) return;
const frames = Array.from(svg.querySelectorAll('g.f')).map(function (g) {
  const d = g.dataset;
  return { g: g, rect: g.querySelector('rect'), wait: g.querySelector('.w'), text: g.querySelector('text'),
           x: +d.x, w: +d.w, all: { x: +d.x, w: +d.w }, b: +d.b || 0, t: +d.t || 0, l: +d.l, name: d.name, up: null };
});
if (frames.length === 0) return;
const left = +svg.dataset.left, width = +svg.dataset.width, total = +svg.dataset.total;
const details = svg.querySelector('.details'), matched = svg.querySelector('.matched');
const reset = svg.querySelector('.reset'), modes = Array.from(svg.querySelectorAll('.mode'));
const byNode = new Map(frames.map(function (f) { return [f.g, f]; }));
let zoomed = frames[0], mode = 'all', word = '', at = null;
const path = [];
frames.forEach(function (f) {
  path[f.l] = f;
  f.up = f.l > 0 ? path[f.l - 1] : null;
});
function place(f, x, w) {
  const chars = Math.floor((w - 4) / 7.25);
  f.rect.setAttribute('x', x.toFixed(2));
  f.rect.setAttribute('width', Math.max(w, 0).toFixed(2));
  f.text.setAttribute('x', (x + 3).toFixed(2));
  f.text.textContent = chars < 3 ? '' : f.name.length <= chars ? f.name : f.name.slice(0, chars - 2) + '..';
  if (!f.wait) return;
  const part = mode === 'running' || f.w <= 0 ? 0 : Math.min(w * f.b / f.w, w);
  f.wait.setAttribute('x', (x + w - part).toFixed(2));
  f.wait.setAttribute('width', part.toFixed(2));
}
function zoom(to) {
  const end = to.x + to.w;
  zoomed = to;
  frames.forEach(function (f) {
    const above = f.l < to.l && f.x <= to.x && f.x + f.w >= end;
    const inside = f.l >= to.l && f.x >= to.x && f.x + f.w <= end && f.w > 0;
    f.g.classList.toggle('above', above);
    f.g.classList.toggle('gone', !above && !inside);
    if (above) place(f, left, width);
    else if (inside) place(f, left + (f.x - to.x) / to.w * width, f.w / to.w * width);
  });
  reset.classList.toggle('gone', to.l === 0);
  svg.dataset.zoomed = to.name;
}
// Of each frame all of its time, what it ran, or what it waited; siblings stay in their order.
function choose(name) {
  const next = new Map();
  mode = name;
  frames.forEach(function (f) {
    if (name === 'all') {
      f.x = f.all.x;
      f.w = f.all.w;
      return;
    }
    f.w = name === 'running' ? f.all.w - f.t : f.t;
    f.x = f.up ? next.get(f.up) : 0;
    next.set(f, f.x);
    if (f.up) next.set(f.up, f.x + f.w);
  });
  modes.forEach(function (m) { m.classList.toggle('chosen', m.dataset.mode === name); });
  svg.dataset.shown = name;
  zoom(zoomed.w > 0 ? zoomed : frames[0]);
  search(word);
}
function search(what) {
  let sum = 0, until = -1;
  word = what;
  frames.forEach(function (f) {
    const hit = word !== '' && f.l > 0 && f.name.indexOf(word) >= 0;
    f.g.classList.toggle('hit', hit);
    if (hit && f.x >= until) { sum += f.w; until = f.x + f.w; }
  });
  const whole = mode === 'all' ? total : frames[0].w;
  svg.dataset.matched = sum;
  matched.textContent = word === '' ? '' : 'Matched: ' + (whole > 0 ? 100 * sum / whole : 0).toFixed(1) + ' %';
}
function show(f) {
  details.textContent = f ? f.g.querySelector('title').textContent.replace(/\n/g, '   ') : '';
}
function go(f) {
  if (!f) return;
  if (at) at.g.classList.remove('at');
  at = f;
  at.g.classList.add('at');
  svg.dataset.at = f.name;
  show(f);
}
function frameOf(node) {
  const g = node.closest ? node.closest('g.f') : null;
  return g ? byNode.get(g) : null;
}
svg.addEventListener('click', function (event) {
  const f = frameOf(event.target);
  if (f && f.w > 0) {
    zoom(f);
    go(f);
  } else if (event.target === reset) zoom(frames[0]);
  else if (event.target.classList.contains('mode')) choose(event.target.dataset.mode);
  else if (event.target === svg.querySelector('.search')) {
    const what = window.prompt('Functions whose name has:', '');
    if (what !== null) search(what);
  }
});
svg.addEventListener('mouseover', function (event) { show(frameOf(event.target)); });
svg.addEventListener('find', function (event) { search(event.detail); });
svg.addEventListener('keydown', function (event) {
  const seen = frames.filter(function (f) { return !f.g.classList.contains('gone') && f.w > 0; });
  const here = at && seen.indexOf(at) >= 0 ? at : seen[0];
  const beside = seen.filter(function (f) { return f.l === here.l; }), i = beside.indexOf(here);
  if (event.key === 'ArrowUp') go(here !== at ? here : seen.find(function (f) { return f.up === here; }));
  else if (event.key === 'ArrowDown') go(here.up);
  else if (event.key === 'ArrowLeft') go(beside[i - 1]);
  else if (event.key === 'ArrowRight') go(beside[i + 1]);
  else if (event.key === 'Enter') zoom(here);
  else if (event.key === 'Escape') zoom(frames[0]);
  else return;
  event.preventDefault();
});
zoom(frames[0]);
decodeURIComponent(location.hash.slice(1)).split('&').forEach(function (part) {
  const name = part.slice(part.indexOf('=') + 1);
  let widest = null;
  if (part.indexOf('search=') === 0) search(name);
  if (part.indexOf('zoom=') !== 0) return;
  frames.forEach(function (f) {
    if (f.name === name && (!widest || f.w > widest.w)) widest = f;
  });
  if (widest && widest.w > 0) zoom(widest);
});
}());
