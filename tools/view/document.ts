/** A whole page from its parts: one file that needs nothing from anywhere. Pure. */
import { createHash } from 'node:crypto';
import { VERSION } from '../../shared/version.ts';
import { clientScript } from './client-script.ts' with { type: 'macro' };
import { madeMark } from './made-mark.ts';
import { inScript, Markup, markup } from './markup.ts';
import type { Payload } from './payload.ts';
import { STYLE } from './style.ts';

/** Inside a script element nothing may look like its end, or like a comment that hides it. */
const SCRIPT = clientScript().replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--');

const digest = (text: string): string => createHash('sha256').update(text).digest('base64');

/** No request leaves the page, and no script runs but its own, whatever a name in it tries. */
const POLICY = `default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-${digest(SCRIPT)}'; base-uri 'none'; form-action 'none'`;

export interface Page {
  title: string;
  body: Markup;
  payload: Payload;
  /** What the downloaded data is called. */
  dataName: string;
  /** Digest of everything the page was made from. */
  made: string;
}

export const pageText = ({ title, body, payload, dataName, made }: Page): string =>
  markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
${new Markup(madeMark(made))}
<meta http-equiv="Content-Security-Policy" content="${new Markup(POLICY)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="k8sbench ${VERSION}">
<title>${title}</title>
<style>${new Markup(STYLE)}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the result</a>
<div class="page">
${body}
<footer>
<div class="controls"><a download="${dataName}" hidden href="#data">Download the data (JSON)</a></div>
<p>Made by k8sbench ${VERSION}. One file: no network, nothing else needed.</p>
<noscript><p>The plots and their tables need JavaScript; everything that is concluded stands in the text.</p></noscript>
</footer>
</div>
<script type="application/json" id="data">${inScript(payload)}</script>
<script>${new Markup(SCRIPT)}</script>
</body>
</html>
`.text;
