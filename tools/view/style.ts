/** The page's looks: light and dark, phones, paper. Colours keep apart without colour vision; symbols say the same. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --page: #fff; --raised: #f6f7f9; --text: #16191d; --muted: #575e68; --line: #d5d9df; --link: #0a55b0;
  --candidate: #0b62b5; --candidate-2: #8a3ab0; --candidate-3: #007a66; --candidate-4: #a02050;
  --reference: #b34a00; --control: #6b6100; --floor: #5c6670; --reading: #7a828c; --change: #a3005c;
  --good: #0f6b2f; --good-back: #e2f4e7; --bad: #a31515; --bad-back: #fde8e6; --even: #3d4550; --even-back: #e9ecf0;
  --open: #7a4b00; --open-back: #fdf0d8;
  --plot-background: var(--raised);
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14171b; --raised: #1e2329; --text: #e8eaed; --muted: #a3abb6; --line: #363d46; --link: #82b7ff;
    --candidate: #6cb2ff; --candidate-2: #d19cf0; --candidate-3: #4fd0b5; --candidate-4: #ff8fb3;
    --reference: #ffa45c; --control: #d6c84a; --floor: #a9b3bf; --reading: #8e97a3; --change: #ff7cc0;
    --good: #8be0a4; --good-back: #173523; --bad: #ffa59d; --bad-back: #45201d; --even: #cdd3db; --even-back: #2a3038;
    --open: #ffcf80; --open-back: #3d2f14;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--page); color: var(--text); font: 16px/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'DejaVu Sans', sans-serif; overflow-wrap: anywhere; }
.page { max-width: 68rem; margin: 0 auto; padding: 1.5rem 1.25rem 3rem; }
h1 { font-size: 1.5rem; line-height: 1.3; margin: 0 0 .75rem; text-wrap: balance; overflow-wrap: anywhere; }
h2 { font-size: 1.3rem; line-height: 1.3; margin: 2.75rem 0 .75rem; padding-top: 1rem; border-top: 1px solid var(--line); overflow-wrap: anywhere; }
h3 { font-size: 1.05rem; margin: 1.75rem 0 .5rem; overflow-wrap: anywhere; }
p, ul, ol { margin: .5rem 0; } p { max-width: 46rem; } li { overflow-wrap: anywhere; }
a { color: var(--link); }
code, pre { font: .875em/1.5 ui-monospace, SFMono-Regular, 'DejaVu Sans Mono', Menlo, Consolas, monospace; }
pre { overflow-x: auto; padding: .75rem 1rem; background: var(--raised); border-radius: 6px; white-space: pre-wrap; overflow-wrap: anywhere; }
.what { color: var(--muted); margin: 0 0 1.25rem; overflow-wrap: anywhere; }
.skip { position: absolute; left: -99rem; } .skip:focus { position: static; }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
.card { border: 1px solid var(--line); border-left-width: 6px; border-radius: 6px; padding: .75rem 1rem; margin: .75rem 0; background: var(--raised); }
.card p { margin: .25rem 0; } .card > :first-child { margin-top: 0; }
.says { font-size: 1.1rem; line-height: 1.45; overflow-wrap: anywhere; }
.beside { color: var(--muted); font-size: .9rem; }
.word { display: inline-block; font-weight: 700; padding: .05rem .55rem; border-radius: 4px; margin-right: .5rem; white-space: nowrap; }
.good { border-left-color: var(--good); } .word.good, td .good { color: var(--good); background: var(--good-back); }
.bad { border-left-color: var(--bad); } .word.bad, td .bad { color: var(--bad); background: var(--bad-back); }
.even { border-left-color: var(--even); } .word.even { color: var(--even); background: var(--even-back); }
.open { border-left-color: var(--open); } .word.open { color: var(--open); background: var(--open-back); }
.doubts { list-style: none; padding: 0; }
.doubts li { border-left: 6px solid var(--open); background: var(--open-back); padding: .4rem .75rem; margin: .4rem 0; border-radius: 4px; max-width: 60rem; }
.doubts b { color: var(--open); }
figure { margin: 1rem 0 1.5rem; }
figcaption { font-weight: 600; font-size: .95rem; margin-bottom: .25rem; }
.canvas:not(.drawn) { min-height: 12rem; } .canvas svg { display: block; max-width: 100%; height: auto; }
.legend { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; list-style: none; padding: 0; margin: .25rem 0 .5rem; font-size: .875rem; }
.legend svg { vertical-align: -1px; display: inline !important; }
.note { color: var(--muted); font-size: .875rem; margin: .25rem 0; } .part { font-weight: 600; font-size: .875rem; margin: .75rem 0 0; }
details { margin: .5rem 0; } summary { cursor: pointer; padding: .2rem 0; } figure > details > summary { font-size: .875rem; color: var(--link); }
details.metric { border: 1px solid var(--line); border-radius: 6px; padding: 0 1rem; } details.metric > summary { font-weight: 600; padding: .6rem 0; }
.scroll { overflow-x: auto; max-height: 30rem; margin: .5rem 0; }
table { border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding: .25rem 0; }
th, td { overflow-wrap: break-word; text-align: left; padding: .3rem .75rem .3rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
tbody th { font-weight: 500; } thead th { color: var(--muted); font-weight: 600; } .number { text-align: right; white-space: nowrap; }
.controls { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; margin: 1rem 0; }
button, a[download] { font: inherit; font-size: .9rem; color: var(--text); background: var(--raised); border: 1px solid var(--muted); border-radius: 6px; padding: .35rem .8rem; cursor: pointer; text-decoration: none; min-height: 2rem; }
nav ul { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; list-style: none; padding: 0; font-size: .9rem; }
footer { color: var(--muted); font-size: .875rem; border-top: 1px solid var(--line); margin-top: 3rem; padding-top: 1rem; overflow-wrap: anywhere; }
.try { display: inline-block; min-width: 1.35em; text-align: center; border-radius: 3px; margin: 0 1px; font-weight: 700; } .try.good { color: var(--good); background: var(--good-back); } .try.bad { color: var(--bad); background: var(--bad-back); } .try.open { color: var(--open); background: var(--open-back); }
@media (max-width: 40rem) { .page { padding: 1rem .9rem 2rem; } h1 { font-size: 1.25rem; } .says { font-size: 1rem; } details.metric { padding: 0 .6rem; } }
@media (prefers-reduced-motion: no-preference) { html { scroll-behavior: smooth; } }
@page { margin: 12mm; }
@media print {
  :root { --page: #fff; --raised: #fff; --text: #000; --muted: #444; --line: #bbb; --candidate: #0b62b5; --reference: #b34a00; --control: #6b6100; --floor: #5c6670; --reading: #666;
    --good: #0f6b2f; --good-back: #fff; --bad: #a31515; --bad-back: #fff; --even: #3d4550; --even-back: #fff; --open: #7a4b00; --open-back: #fff; --change: #a3005c; }
  .page { max-width: none; padding: 0; } nav, .controls, .skip, figure > details:not([open]), details.metric:not([open]) { display: none; }
  figure, .card, tr, .scroll, .doubts li { break-inside: avoid; } h2, h3, figcaption { break-after: avoid; } .scroll { max-height: none; overflow: visible; } body { font-size: 11pt; }
  .scroll table { font-size: 8pt; } .scroll :is(th, td) { padding-inline: 0.3em; white-space: normal; }
  .word, .try { border: 1px solid currentColor; }
}
`;
