/** The parts of the reference that Swagger UI does not have: the box for the key and the box to find operations. */
const dark = matchMedia('(prefers-color-scheme: dark)');
const paint = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', paint);
paint();

const [find, found, key, sent] = ['find', 'found', 'key', 'sent'].map((id) => document.getElementById(id));

/**
 * The key stays in its box: it is not stored, and is gone with the page. People paste what a terminal shows: `export
 * NAME=sk-…`, or the whole header.
 */
const credential = () => {
  const pasted = key.value
    .trim()
    .replace(/^(export\s+)?\w+=/, '')
    .replace(/^authorization:\s*/i, '')
    .replace(/^(["'])(.*)\1$/, '$2');
  const text = pasted.match(/^(?:(?:api-key|bearer)\s+)?(sk-\S+)$/i)?.[1] ?? pasted;
  if (!text || /\s/.test(text)) return text;
  return (text.startsWith('sk-') ? 'Api-Key ' : 'Bearer ') + text;
};
key.addEventListener('input', () => {
  const text = credential();
  sent.value = text ? `Sent as Authorization: ${text.split(' ')[0]} …` : '';
});

const nothing = () => () => null;
const textOf = (tag, one) =>
  [
    tag,
    one.get('method'),
    one.get('path'),
    ...['operationId', 'summary', 'description'].map((name) => one.getIn(['operation', name])),
  ]
    .join(' ')
    .toLowerCase();

const matching = (groups, phrase) => {
  const words = phrase.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = (tag) => (one) => words.every((word) => textOf(tag, one).includes(word));
  return groups
    .map((group, tag) => group.update('operations', (list) => list.filter(matches(tag))))
    .filter((group) => group.get('operations').size > 0);
};

/** The command that the page shows is copied into mails and tickets, so it names the key by a variable. */
const withoutKey =
  (_Curl, { React, fn, getComponent }) =>
  ({ request }) => {
    const at = ['headers', 'Authorization'];
    const [scheme] = (request.getIn(at) ?? '').split(' ');
    const named = scheme + (scheme === 'Api-Key' ? ' $ORIEL_API_KEY' : ' $ORIEL_TOKEN');
    const command = fn
      .requestSnippetGenerator_curl_bash(scheme ? request.setIn(at, named) : request)
      .replace(`'Authorization: ${named}'`, () => `"Authorization: ${named}"`);
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
