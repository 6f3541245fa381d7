/** Code to paste: how a backend asks for a session, and how a page shows the dashboard. The key is always a variable. */

export interface Sample {
  id: string;
  name: string;
  code: string;
}

const PATH = '/api/v1/embed/generate-session';
/** Named here, because what stands in a sample is neither read nor imported by the app itself. */
const ENVIRONMENT = ['process', 'env'].join('.');
const COMPONENT = '@oriel/viewer/react';

/** In single quotes of a shell. */
const shellText = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
/** Between three double quotes of Python and Java, and in a nowdoc of others: JSON never holds three quotes in a row. */
const indent = (text: string, by: string) => text.replaceAll('\n', `\n${by}`);

export function backendSamples(origin: string, body: object): Sample[] {
  const url = `${origin}${PATH}`;
  const json = JSON.stringify(body, null, 2);
  return [
    {
      id: 'node',
      name: 'Node',
      code: `const response = await fetch(${JSON.stringify(url)}, {
  method: 'POST',
  headers: {
    authorization: \`Api-Key \${${ENVIRONMENT}.ORIEL_API_KEY}\`,
    'content-type': 'application/json',
  },
  body: JSON.stringify(${indent(json, '  ')}),
});
if (!response.ok) throw new Error(await response.text());
const { sessionId } = await response.json();
`,
    },
    {
      id: 'python',
      name: 'Python',
      code: `import json, os, urllib.request

request = urllib.request.Request(
    ${JSON.stringify(url)},
    data=json.dumps(json.loads(r"""${json}""")).encode(),
    headers={
        "Authorization": "Api-Key " + os.environ["ORIEL_API_KEY"],
        "Content-Type": "application/json",
    },
)
with urllib.request.urlopen(request) as response:
    session_id = json.load(response)["sessionId"]
`,
    },
    {
      id: 'ruby',
      name: 'Ruby',
      code: `require 'json'
require 'net/http'

body = <<~'JSON'
  ${indent(json, '  ')}
JSON
response = Net::HTTP.post(
  URI(${JSON.stringify(url)}),
  body,
  'Authorization' => "Api-Key #{ENV.fetch('ORIEL_API_KEY')}",
  'Content-Type' => 'application/json',
)
raise response.body unless response.is_a?(Net::HTTPSuccess)
session_id = JSON.parse(response.body)['sessionId']
`,
    },
    {
      id: 'php',
      name: 'PHP',
      code: `<?php
$body = <<<'JSON'
${json}
JSON;
$request = curl_init('${url}');
curl_setopt_array($request, [
    CURLOPT_POST => true,
    CURLOPT_POSTFIELDS => $body,
    CURLOPT_HTTPHEADER => [
        'Authorization: Api-Key ' . getenv('ORIEL_API_KEY'),
        'Content-Type: application/json',
    ],
    CURLOPT_RETURNTRANSFER => true,
    CURLOPT_FAILONERROR => true,
]);
$reply = curl_exec($request);
if ($reply === false) throw new RuntimeException(curl_error($request));
$sessionId = json_decode($reply)->sessionId;
`,
    },
    {
      id: 'java',
      name: 'Java',
      code: `import java.net.URI;
import java.net.http.*;

var body = """
    ${indent(json.replaceAll('\\', '\\\\'), '    ')}
    """;
var request = HttpRequest.newBuilder(URI.create(${JSON.stringify(url)}))
    .header("Authorization", "Api-Key " + System.getenv("ORIEL_API_KEY"))
    .header("Content-Type", "application/json")
    .POST(HttpRequest.BodyPublishers.ofString(body))
    .build();
var response = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
if (response.statusCode() >= 300) throw new RuntimeException(response.body());
// {"sessionId":"…"}: read it with the JSON library that you use.
var reply = response.body();
`,
    },
    {
      id: 'go',
      name: 'Go',
      code: `body := ${json
        .split('`')
        .map((part) => `\`${part}\``)
        .join(' + "`" + ')}
request, err := http.NewRequest("POST", ${JSON.stringify(url)}, strings.NewReader(body))
if err != nil {
	return err
}
request.Header.Set("Authorization", "Api-Key "+os.Getenv("ORIEL_API_KEY"))
request.Header.Set("Content-Type", "application/json")
response, err := http.DefaultClient.Do(request)
if err != nil {
	return err
}
defer response.Body.Close()
if response.StatusCode >= 300 {
	return fmt.Errorf("no session: %s", response.Status)
}
var reply struct{ SessionID string \`json:"sessionId"\` }
if err := json.NewDecoder(response.Body).Decode(&reply); err != nil {
	return err
}
`,
    },
    {
      id: 'curl',
      name: 'curl',
      code: `curl -H "Authorization: Api-Key $ORIEL_API_KEY" -H "Content-Type: application/json" \\
  -d ${shellText(JSON.stringify(body))} \\
  ${url}
`,
    },
  ];
}

export const pageSamples = (
  origin: string,
  publicId: string,
  names: { element: string; react: string },
): Sample[] => [
  {
    id: 'element',
    name: names.element,
    code: `<script type="module" src="/oriel/embed.js"></script>
<oriel-dashboard id="dashboard" base-url="${origin}" public-id="${publicId}" theme="auto"></oriel-dashboard>
<script type="module">
  document.getElementById('dashboard').getSession = async () => {
    const response = await fetch('/session', { method: 'POST' });
    if (!response.ok) throw new Error('There is no session.');
    return response.text();
  };
</script>
`,
  },
  {
    id: 'react',
    name: names.react,
    code: `import { OrielDashboard } from '${COMPONENT}';

const getSession = async () => {
  const response = await fetch('/session', { method: 'POST' });
  if (!response.ok) throw new Error('There is no session.');
  return response.text();
};

export const Dashboard = () => (
  <OrielDashboard baseUrl="${origin}" publicId="${publicId}" getSession={getSession} theme="auto" />
);
`,
  },
];
