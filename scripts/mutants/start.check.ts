/** The file that Vitest is started with. Its runner runs the plan first; see runner.ts. */
import { test } from 'vitest';

test('the plan has ended', () => {});
