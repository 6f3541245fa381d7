/**
 * Unlike `expect.poll`, these two do not take their time limit from the configuration, and a second is too short for a
 * busy machine.
 */
import { vi } from 'vitest';

const { waitFor, waitUntil } = vi;
const patient = (options: number | object = {}) =>
  typeof options === 'number' ? options : { timeout: 60_000, ...options };

vi.waitFor = (callback, options) => waitFor(callback, patient(options));
vi.waitUntil = (callback, options) => waitUntil(callback, patient(options));
