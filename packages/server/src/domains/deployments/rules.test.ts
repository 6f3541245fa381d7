import { describe, expect, test } from 'vitest';
import { mayFollow } from './rules.ts';
import type { CreationStep } from './store.ts';

const STEPS: CreationStep[] = [
  'project',
  'upload',
  'git-host',
  'ssh',
  'demo',
  'databases',
  'schema',
  'ready',
];

describe('the steps that may follow a step of the creation', () => {
  test.each([
    ['project', ['upload', 'git-host', 'ssh', 'demo', 'databases', 'schema', 'ready']],
    ['upload', ['databases', 'schema', 'ready']],
    ['git-host', ['databases', 'schema', 'ready']],
    ['ssh', ['databases', 'schema', 'ready']],
    ['demo', ['ready']],
    ['databases', ['schema', 'ready']],
    ['schema', ['ready']],
    ['ready', []],
  ] as [CreationStep, CreationStep[]][])('%s', (step, next) => {
    expect(STEPS.filter((other) => mayFollow(step, other))).toEqual(next);
  });
});
