/** The areas of the API, as the OpenAPI document groups them. Each is described in the file of its operations. */
import type { tags } from './operations.gen.ts';

/** Names of areas, and what each is about. */
export type TagDefinitions = Record<string, string>;

export type Tag = keyof typeof tags;
