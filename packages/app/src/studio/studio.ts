/** The state of the model studio: the files of one branch, what was changed in them, and what the compiler says. */
import { computed, signal } from '@preact/signals';
import { api } from '../data/api.ts';
import { preference } from '../preferences.ts';
import { type CompileResult, type ModelCompiler, startCompiler } from './compiler.ts';
import type { SourceTable } from './completion.ts';
import { loadFiles } from './files.ts';
import type { JsonSchema } from './language.ts';
import type { KnownCube, MeaningChange, RenamedMember, ShownProblem } from './messages.ts';

export type Branch = Awaited<ReturnType<typeof api.listBranches>>['items'][number];

/** Between the last letter and the compilation. */
const PAUSE_MS = 150;

export class Studio {
  readonly deploymentId: number;
  readonly branch: Branch;
  /** As the server has them. */
  readonly saved = signal<ReadonlyMap<string, string | undefined>>(new Map());
  /** What was typed and is not saved. It is no signal, so that a letter draws nothing anew but the text itself. */
  readonly drafts = new Map<string, string>();
  /** The files with drafts. It changes with the first letter, and when they are saved. */
  readonly dirty = signal<ReadonlySet<string>>(new Set());
  readonly open = signal<string | undefined>(undefined);
  /** Changes only if the problems do, which most letters leave as they are. */
  readonly problems = signal<readonly ShownProblem[]>([]);
  readonly cubes = signal<readonly KnownCube[]>([]);
  readonly tables = signal<readonly SourceTable[]>([]);
  readonly schema = signal<JsonSchema>({});
  readonly isSaving = signal(false);
  /** Files whose drafts were changed by something else than typing. */
  readonly rewritten = signal<readonly string[]>([]);
  readonly problemsByFile = computed(() => Map.groupBy(this.problems.value, ({ file }) => file));
  #compiler: ModelCompiler | undefined;
  #waiting = new Map<string, string | null>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #compiling: Promise<void> | undefined;
  readonly #ended = Promise.withResolvers<string[]>();
  /** The folder of the project in the repository: `` or `folder/`. Only what is below it is the model. */
  #root = '';

  constructor(deploymentId: number, branch: Branch) {
    this.deploymentId = deploymentId;
    this.branch = branch;
  }

  get isReadOnly() {
    return !this.branch.isActive || this.branch.isDefault;
  }

  async load(signal: AbortSignal) {
    const { deploymentId, branch } = this;
    const [files, settings, schema] = await Promise.all([
      loadFiles(deploymentId, branch.name, { signal }),
      api.getDeploymentSettings({ deploymentId }, { signal }).catch(() => undefined),
      api.getModelSchema({}, { signal }) as Promise<JsonSchema>,
    ]);
    const root = (settings as { deployProjectRoot?: string } | undefined)?.deployProjectRoot ?? '/';
    this.#root = root.replace(/^\/+/, '').replace(/([^/])$/, '$1/');
    this.schema.value = schema;
    this.saved.value = new Map(files.map(({ path, text }) => [path, text]));
    this.open.value ??= files.find(({ path }) => /\.ya?ml$/.test(path))?.path ?? files[0]?.path;
    void this.#loadTables(signal);
    await this.#compileAll();
  }

  /** For completion only: without them there are fewer words to choose from. */
  async #loadTables(signal: AbortSignal) {
    try {
      const { items } = await api.listDataSourceTables(
        { deploymentId: this.deploymentId, name: 'default', first: 1000 },
        { signal },
      );
      this.tables.value = items;
    } catch {
      this.tables.value = [];
    }
  }

  textOf(path: string): string | undefined {
    return this.drafts.get(path) ?? this.saved.value.get(path);
  }

  edit(path: string, text: string) {
    if (this.saved.peek().get(path) === text) this.drafts.delete(path);
    else this.drafts.set(path, text);
    this.#noteDirty();
    this.#change(path, text);
  }

  #noteDirty() {
    const before = this.dirty.peek();
    const now = new Set(this.drafts.keys());
    if (now.size !== before.size || [...now].some((path) => !before.has(path))) this.dirty.value = now;
  }

  forgetDrafts() {
    this.drafts.clear();
    this.#noteDirty();
  }

  #change(path: string, text: string | null) {
    if (!path.startsWith(this.#root)) return;
    this.#waiting.set(path.slice(this.#root.length), text);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#compile(), PAUSE_MS);
  }

  async #compileAll() {
    this.#compiler ??= startCompiler();
    const texts = new Map([...this.saved.peek(), ...this.drafts]);
    const all = [...texts].filter(([path, text]) => path.startsWith(this.#root) && text !== undefined);
    this.#show(
      await this.#compiler.compile(
        all.map(([path, text]) => [path.slice(this.#root.length), text!]),
        true,
      ),
    );
  }

  /** Compiles all that was typed until now. */
  #compile(): Promise<void> {
    clearTimeout(this.#timer);
    this.#compiling ??= this.#compileWaiting().finally(() => {
      this.#compiling = undefined;
    });
    return this.#compiling;
  }

  /**
   * Compiles the changed files in batches: letters typed during a run wait for the next one, so the worker never falls
   * behind by more than one run.
   */
  async #compileWaiting() {
    while (this.#compiler && this.#waiting.size) {
      const changed = [...this.#waiting];
      this.#waiting.clear();
      this.#show(await this.#compiler.compile(changed));
    }
  }

  #show({ problems, changed, removed }: CompileResult) {
    const named = <T extends { file: string }>(one: T): T => ({ ...one, file: this.#root + one.file });
    const shown = problems.map(named);
    if (JSON.stringify(shown) !== JSON.stringify(this.problems.peek())) this.problems.value = shown;
    if (!changed.length && !removed.length) return;
    const cubes = new Map(this.cubes.peek().map((cube) => [cube.name, cube]));
    for (const name of removed) cubes.delete(name);
    for (const cube of changed) cubes.set(cube.name, named(cube));
    this.cubes.value = [...cubes.values()];
  }

  /** Saves all that was typed. What is typed meanwhile stays unsaved. */
  async save() {
    if (!this.drafts.size || this.isReadOnly) return;
    this.isSaving.value = true;
    try {
      if (preference('formatOnSave') ?? true) await this.#format();
      const drafts = [...this.drafts];
      if (!drafts.length) return;
      await api.updateFiles({
        deploymentId: this.deploymentId,
        body: { branchName: this.branch.name, files: drafts.map(([path, content]) => ({ path, content })) },
      });
      this.saved.value = new Map([...this.saved.peek(), ...drafts]);
      for (const [path, text] of drafts) if (this.drafts.get(path) === text) this.drafts.delete(path);
      this.#noteDirty();
    } finally {
      this.isSaving.value = false;
    }
  }

  /** Lays out what was typed, unless it was typed on meanwhile. */
  async #format() {
    const before = [...this.drafts].filter(([path]) => /\.ya?ml$/i.test(path));
    const asked = this.#compiler?.format(before.map(([, text]) => text));
    // A worker that is ended does not answer, and what was typed must still be saved.
    const texts = asked ? await Promise.race([asked, this.#ended.promise]) : [];
    for (const [i, [path, text]] of before.entries())
      if (texts[i] !== undefined && texts[i] !== text && this.drafts.get(path) === text)
        this.rewrite(path, texts[i]);
  }

  /** Replaces the text of a file that may be open, without saving it. */
  rewrite(path: string, text: string) {
    this.edit(path, text);
    this.rewritten.value = [...this.rewritten.peek().slice(-100), path];
  }

  /** Gives a member another name in all files, and saves them. Returns what views call it now, or why nothing changed. */
  async renameMember(cube: string, member: string, newName: string) {
    let renamed: RenamedMember;
    do {
      await this.#compile();
      renamed = await this.#compiler!.rename(cube, member, newName);
      // The files that it returns do not have what was typed meanwhile.
    } while (this.#waiting.size);
    for (const [path, text] of renamed.files) this.rewrite(this.#root + path, text);
    await this.save();
    return { ...renamed, files: renamed.files.map(([path]) => this.#root + path) };
  }

  /** Adds a file, or replaces its text, and saves it at once. */
  async write(files: readonly { path: string; content: string }[]) {
    await api.updateFiles({
      deploymentId: this.deploymentId,
      body: { branchName: this.branch.name, files: [...files] },
    });
    const saved = new Map(this.saved.peek());
    for (const { path, content } of files) {
      saved.set(path, content);
      this.drafts.delete(path);
      this.#change(path, content);
    }
    this.saved.value = saved;
    this.#noteDirty();
  }

  async rename(path: string, newPath: string) {
    await this.save();
    await api.renameFiles({
      deploymentId: this.deploymentId,
      body: { branchName: this.branch.name, files: [{ path, newPath }] },
    });
    const saved = new Map(this.saved.peek());
    const text = saved.get(path);
    saved.delete(path);
    saved.set(newPath, text);
    this.#change(path, null);
    if (text !== undefined) this.#change(newPath, text);
    this.saved.value = saved;
    if (this.open.peek() === path) this.open.value = newPath;
  }

  async remove(path: string) {
    await api.removeFiles({
      deploymentId: this.deploymentId,
      body: { branchName: this.branch.name, files: [{ path }] },
    });
    const saved = new Map(this.saved.peek());
    saved.delete(path);
    this.drafts.delete(path);
    this.saved.value = saved;
    this.#noteDirty();
    this.#change(path, null);
    if (this.open.peek() === path) this.open.value = [...saved.keys()][0];
  }

  /** What the model of this branch means, compared with other files. */
  async compareWith(
    files: readonly { path: string; text: string | undefined }[],
  ): Promise<MeaningChange[] | null> {
    // The worker knows only what was compiled, which is not what was typed a moment ago.
    await this.#compile();
    const before = files
      .filter(({ path, text }) => path.startsWith(this.#root) && text !== undefined)
      .map(({ path, text }): [string, string] => [path.slice(this.#root.length), text!]);
    return (await this.#compiler?.compare(before)) ?? null;
  }

  stop() {
    clearTimeout(this.#timer);
    this.#ended.resolve([]);
    this.#compiler?.stop();
    this.#compiler = undefined;
  }
}
