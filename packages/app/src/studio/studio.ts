/** The state of the model studio: the files of one branch, what was changed in them, and what the compiler says. */
import { computed, signal } from '@preact/signals';
import { api } from '../data/api.ts';
import { type ModelCompiler, startCompiler } from './compiler.ts';
import type { SourceTable } from './completion.ts';
import { loadFiles } from './files.ts';
import type { JsonSchema } from './language.ts';
import type { Compilation, MeaningChange } from './messages.ts';

export type Branch = Awaited<ReturnType<typeof api.listBranches>>['items'][number];

/** Between the last letter and the compilation. */
const PAUSE_MS = 150;

const NOTHING: Compilation = { problems: [], cubes: [], isValid: true, tookMs: 0 };

export class Studio {
  readonly deploymentId: number;
  readonly branch: Branch;
  /** As the server has them. */
  readonly saved = signal<ReadonlyMap<string, string | undefined>>(new Map());
  /** What was typed and is not saved. */
  readonly drafts = signal<ReadonlyMap<string, string>>(new Map());
  readonly open = signal<string | undefined>(undefined);
  readonly compilation = signal<Compilation>(NOTHING);
  readonly isCompiling = signal(true);
  readonly tables = signal<readonly SourceTable[]>([]);
  readonly schema = signal<JsonSchema>({});
  readonly isSaving = signal(false);
  readonly dirty = computed(() => [...this.drafts.value.keys()]);
  #compiler: ModelCompiler | undefined;
  #waiting = new Map<string, string | null>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isRunning = false;
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
    return this.drafts.value.get(path) ?? this.saved.value.get(path);
  }

  edit(path: string, text: string) {
    const drafts = new Map(this.drafts.peek());
    if (this.saved.peek().get(path) === text) drafts.delete(path);
    else drafts.set(path, text);
    this.drafts.value = drafts;
    this.#change(path, text);
  }

  #change(path: string, text: string | null) {
    if (!path.startsWith(this.#root)) return;
    this.#waiting.set(path.slice(this.#root.length), text);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#compile(), PAUSE_MS);
  }

  async #compileAll() {
    this.#compiler ??= startCompiler();
    const texts = new Map([...this.saved.peek(), ...this.drafts.peek()]);
    const all = [...texts].filter(([path, text]) => path.startsWith(this.#root) && text !== undefined);
    this.#show(
      await this.#compiler.compile(
        all.map(([path, text]) => [path.slice(this.#root.length), text!]),
        true,
      ),
    );
  }

  async #compile() {
    // What is typed meanwhile waits for the next run, so that the worker is never behind by more than one.
    if (this.#isRunning || !this.#compiler || !this.#waiting.size) return;
    this.#isRunning = true;
    this.isCompiling.value = true;
    const changed = [...this.#waiting];
    this.#waiting.clear();
    try {
      this.#show(await this.#compiler.compile(changed));
    } finally {
      this.#isRunning = false;
      void this.#compile();
    }
  }

  #show(compilation: Compilation) {
    const named = <T extends { file: string }>(one: T): T => ({ ...one, file: this.#root + one.file });
    this.compilation.value = {
      ...compilation,
      problems: compilation.problems.map(named),
      cubes: compilation.cubes.map(named),
    };
    this.isCompiling.value = false;
  }

  /** Saves all that was typed. What is typed meanwhile stays unsaved. */
  async save() {
    const drafts = [...this.drafts.peek()];
    if (!drafts.length || this.isReadOnly) return;
    this.isSaving.value = true;
    try {
      await api.updateFiles({
        deploymentId: this.deploymentId,
        body: { branchName: this.branch.name, files: drafts.map(([path, content]) => ({ path, content })) },
      });
      this.saved.value = new Map([...this.saved.peek(), ...drafts]);
      const left = [...this.drafts.peek()].filter(([path, text]) => this.saved.peek().get(path) !== text);
      this.drafts.value = new Map(left);
    } finally {
      this.isSaving.value = false;
    }
  }

  /** Adds a file, or replaces its text, and saves it at once. */
  async write(files: readonly { path: string; content: string }[]) {
    await api.updateFiles({
      deploymentId: this.deploymentId,
      body: { branchName: this.branch.name, files: [...files] },
    });
    const drafts = new Map(this.drafts.peek());
    const saved = new Map(this.saved.peek());
    for (const { path, content } of files) {
      saved.set(path, content);
      drafts.delete(path);
      this.#change(path, content);
    }
    this.saved.value = saved;
    this.drafts.value = drafts;
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
    const [saved, drafts] = [new Map(this.saved.peek()), new Map(this.drafts.peek())];
    saved.delete(path);
    drafts.delete(path);
    this.saved.value = saved;
    this.drafts.value = drafts;
    this.#change(path, null);
    if (this.open.peek() === path) this.open.value = [...saved.keys()][0];
  }

  /** What the model of this branch means, compared with other files. */
  compareWith(files: readonly { path: string; text: string | undefined }[]): Promise<MeaningChange[] | null> {
    const before = files
      .filter(({ path, text }) => path.startsWith(this.#root) && text !== undefined)
      .map(({ path, text }): [string, string] => [path.slice(this.#root.length), text!]);
    return this.#compiler?.compare(before) ?? Promise.resolve(null);
  }

  stop() {
    clearTimeout(this.#timer);
    this.#compiler?.stop();
    this.#compiler = undefined;
  }
}
