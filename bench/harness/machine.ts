import { readFile } from 'node:fs/promises';
import { arch, cpus, loadavg, platform, totalmem } from 'node:os';
import { join } from 'node:path';
import { root } from './paths.ts';

/** Facts about the machine that the figures depend on. */
export async function describeMachine(): Promise<Record<string, string>> {
  const processors = cpus();
  return {
    machine: `${processors.length} cores of ${processors[0]?.model ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${platform()} ${arch()}`,
    load: `${loadavg()[0]!.toFixed(2)} at the end, this benchmark included`,
    node: process.versions.node,
    fastify: await versionOf('fastify'),
    pg: await versionOf('pg'),
  };
}

async function versionOf(name: string): Promise<string> {
  const text = await readFile(join(root, 'node_modules', name, 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
