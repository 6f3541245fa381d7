/** The areas by which the OpenAPI document groups operations. Each is described in the file of its operations. */
import type { tags } from './operations.gen.ts';

/** The names of areas, each with its description. */
export type TagDefinitions = Record<string, string>;

export type Tag = keyof typeof tags;
