/** The page of the reference: Swagger UI, with one box for the key and one to find operations. */

export const PAGE = `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark">
  <title>Oriel API</title>
  <link rel="stylesheet" href="/docs/swagger-ui.css">
  <link rel="stylesheet" href="/docs/reference.css">
  <link rel="icon" href="data:,">
</head>
<body>
  <header>
    <strong>Oriel API</strong>
    <label>Find <input id="find" type="search" placeholder="embed session" autocomplete="off"></label>
    <output id="found" for="find"></output>
    <label>Key or token <input id="key" type="password" placeholder="sk-…" autocomplete="off" spellcheck="false"></label>
    <output id="sent" for="key"></output>
  </header>
  <main id="reference"></main>
  <script src="/docs/swagger-ui-bundle.js"></script>
  <script src="/docs/reference.js"></script>
</body>
</html>
`;

/** The key stays in its box: it is not stored, and is gone with the page. */
export const SCRIPT = `'use strict';
const dark = matchMedia('(prefers-color-scheme: dark)');
const paint = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', paint);
paint();

const [find, found, key, sent] = ['find', 'found', 'key', 'sent'].map((id) => document.getElementById(id));
/** People paste what a terminal shows: \`export NAME=sk-…\`, or the whole header. */
const credential = () => {
  const pasted = key.value.trim().replace(/^(export\\s+)?\\w+=/, '').replace(/^authorization:\\s*/i, '').replace(/^(["'])(.*)\\1$/, '$2');
  const text = pasted.match(/^(?:(?:api-key|bearer)\\s+)?(sk-\\S+)$/i)?.[1] ?? pasted;
  if (!text || /\\s/.test(text)) return text;
  return (text.startsWith('sk-') ? 'Api-Key ' : 'Bearer ') + text;
};
key.addEventListener('input', () => {
  const text = credential();
  sent.value = text ? 'Sent as Authorization: ' + text.split(' ')[0] + ' …' : '';
});

const nothing = () => () => null;
const textOf = (tag, one) =>
  [tag, one.get('method'), one.get('path'), ...['operationId', 'summary', 'description'].map((name) => one.getIn(['operation', name]))]
    .join(' ')
    .toLowerCase();

const matching = (groups, phrase) => {
  const words = phrase.toLowerCase().split(/\\s+/).filter(Boolean);
  const matches = (tag) => (one) => words.every((word) => textOf(tag, one).includes(word));
  return groups
    .map((group, tag) => group.update('operations', (list) => list.filter(matches(tag))))
    .filter((group) => group.get('operations').size > 0);
};

/** The command that the page shows is copied into mails and tickets, so it names the key by a variable. */
const withoutKey = (_Curl, { React, fn, getComponent }) => ({ request }) => {
  const at = ['headers', 'Authorization'];
  const [scheme] = (request.getIn(at) ?? '').split(' ');
  const named = scheme + (scheme === 'Api-Key' ? ' $ORIEL_API_KEY' : ' $ORIEL_TOKEN');
  const command = fn
    .requestSnippetGenerator_curl_bash(scheme ? request.setIn(at, named) : request)
    .replace("'Authorization: " + named + "'", () => '"Authorization: ' + named + '"');
  return React.createElement(
    'div',
    { className: 'curl-command' },
    React.createElement('h4', null, 'Curl'),
    React.createElement(getComponent('CopyToClipboardBtn'), { textToCopy: command }),
    React.createElement('pre', { className: 'curl microlight' }, command),
  );
};

const ours = () => ({
  wrapComponents: {
    authorizeBtn: nothing,
    authorizeOperationBtn: nothing,
    FilterContainer: nothing,
    ServersContainer: nothing,
    curl: withoutKey,
  },
  fn: { opsFilter: matching },
});

const ui = SwaggerUIBundle({
  url: '/api/v1/spec',
  dom_id: '#reference',
  plugins: [ours],
  deepLinking: true,
  docExpansion: 'none',
  filter: '',
  persistAuthorization: false,
  validatorUrl: null,
  defaultModelsExpandDepth: -1,
  displayRequestDuration: true,
  requestInterceptor: (request) => {
    const text = credential();
    if (text && !request.loadSpec) request.headers.Authorization = text;
    return request;
  },
});

find.addEventListener('input', () => {
  const phrase = find.value.trim();
  ui.layoutActions.updateFilter(phrase);
  const groups = ui.specSelectors.taggedOperations();
  for (const tag of groups.keys()) ui.layoutActions.show(['operations-tag', tag], phrase !== '');
  found.value = groups.size ? '' : 'No operation has these words.';
});
`;

export const STYLE = `body { margin: 0; background: #fff; color: #1f2430; font: 15px/1.5 system-ui, sans-serif; }
header {
  position: sticky; top: 0; z-index: 1; display: flex; flex-wrap: wrap; align-items: center; gap: 8px 20px;
  padding: 10px 24px; background: #f4f6f8; border-bottom: 1px solid #d8dde3;
}
header label { display: flex; align-items: center; gap: 8px; }
header input {
  width: 240px; padding: 6px 10px; border: 1px solid #98a2ad; border-radius: 4px;
  background: #fff; color: inherit; font: inherit;
}
header output { color: #4b5563; }
.swagger-ui .info { margin: 24px 0; }
/* Says that the document has no operations, if none is found. */
.swagger-ui section.block > h3 { display: none; }
.swagger-ui .curl-command { position: relative; }
.swagger-ui .curl-command .view-line-link { position: absolute; right: 10px; bottom: 10px; }
.dark-mode body { background: #1c2022; color: #e4e6e6; }
.dark-mode header { background: #26292b; border-color: #45494c; }
.dark-mode header input { background: #1c2022; border-color: #767c80; }
.dark-mode .swagger-ui .btn-clear { color: #e4e6e6; }
.dark-mode header output { color: #b6bcbf; }
@media (max-width: 600px) { header { position: static; } header label, header input { width: 100%; box-sizing: border-box; } }
`;
