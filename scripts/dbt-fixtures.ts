/** Makes small copies of what dbt wrote, for tests that run without dbt: without code, which no sync reads. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

type Json = Record<string, unknown>;

const UNREAD = new Set(
  `raw_code compiled_code unrendered_config checksum docs build_path compiled_path compiled extra_ctes
  extra_ctes_injected patch_path language created_at original_file_path refs metrics_refs doc_blocks stats
  persist_docs on_schema_change grants packages full_refresh store_failures invocation_id invocation_started_at
  generated_at run_started_at project_id user_id send_anonymous_usage_stats quoting macro_sql root_path`.split(
    /\s+/,
  ),
);
const LISTS = [
  'docs',
  'parent_map',
  'child_map',
  'group_map',
  'disabled',
  'selectors',
  'unit_tests',
  'functions',
];
const MACROS = 3;

const isNothing = (value: unknown) =>
  value === null || (typeof value === 'object' && value !== null && Object.keys(value).length === 0);

function trimmed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(trimmed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, item]) => !UNREAD.has(key) && !isNothing(item))
      .map(([key, item]) => [key, trimmed(item)]),
  );
}

/** Copies both files of a project from `target` to `folder`. */
export async function writeFixture(target: string, folder: string, project: string): Promise<void> {
  for (const name of ['manifest', 'catalog']) {
    const whole: Json = JSON.parse(await readFile(join(target, `${name}.json`), 'utf8'));
    const macros = Object.keys((whole.macros as Json | undefined) ?? {}).slice(0, MACROS);
    const kept = trimmed({
      ...whole,
      ...Object.fromEntries(LISTS.map((list) => [list, null])),
      macros: null,
    }) as Json;
    if (name === 'manifest')
      kept.macros = Object.fromEntries(macros.map((macro) => [macro, { name: macro }]));
    await writeFile(join(folder, `${project}.${name}.json`), `${JSON.stringify(kept)}\n`);
  }
}
