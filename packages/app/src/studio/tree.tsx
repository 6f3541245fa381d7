/** The files of the branch as a tree, with what can be done with each. */
import { useComputed } from '@preact/signals';
import { useState } from 'preact/hooks';
import { askText } from '../parts/dialog.tsx';
import { Icon } from '../parts/icons.tsx';
import { Menu } from '../parts/menu.tsx';
import { attempt, toast } from '../parts/toasts.tsx';
import { type TreeNode, treeOf } from './files.ts';
import { say } from './say.ts';
import type { Studio } from './studio.ts';

export function FileTree({ studio }: { studio: Studio }) {
  const paths = [...studio.saved.value.keys()];
  return (
    <nav class="studio-tree" aria-label={say('files')}>
      {!studio.isReadOnly && (
        <button type="button" class="quiet with-icon" onClick={() => askForFile(studio)}>
          <Icon name="plus" size={16} />
          {say('newFile')}
        </button>
      )}
      <Nodes nodes={treeOf(paths)} studio={studio} />
    </nav>
  );
}

const Nodes = ({ nodes, studio }: { nodes: readonly TreeNode[]; studio: Studio }) => (
  <ul>
    {nodes.map((node) => (
      <li key={node.path}>
        {node.children ? <Folder node={node} studio={studio} /> : <File node={node} studio={studio} />}
      </li>
    ))}
  </ul>
);

function Folder({ node, studio }: { node: TreeNode; studio: Studio }) {
  const [isOpen, setOpen] = useState(true);
  return (
    <>
      <button type="button" class="tree-row" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Icon name={isOpen ? 'down' : 'right'} size={14} />
        {node.name}
      </button>
      {isOpen && <Nodes nodes={node.children!} studio={studio} />}
    </>
  );
}

/** Of hundreds of files, a letter changes one: only that one is drawn again. */
function File({ node: { path, name }, studio }: { node: TreeNode; studio: Studio }) {
  const problems = useComputed(() => studio.problemsByFile.value.get(path)?.length ?? 0).value;
  const hasErrors = useComputed(
    () => studio.problemsByFile.value.get(path)?.some(({ isError }) => isError) ?? false,
  ).value;
  const isDirty = useComputed(() => studio.dirty.value.has(path)).value;
  const isOpen = useComputed(() => studio.open.value === path).value;
  return (
    <div class="tree-file">
      <button
        type="button"
        class="tree-row"
        aria-current={isOpen ? 'true' : undefined}
        onClick={() => {
          studio.open.value = path;
        }}
      >
        <span class={hasErrors ? 'grow bad' : 'grow'}>{name}</span>
        {isDirty && (
          <span class="dot" role="img" aria-label={say('unsaved')} title={say('unsaved')}>
            ●
          </span>
        )}
        {problems > 0 && (
          <span class={hasErrors ? 'count bad' : 'count'}>
            {problems}
            <span class="hidden"> {say('problems')}</span>
          </span>
        )}
      </button>
      {!studio.isReadOnly && isOpen && (
        <Menu
          label={say('fileActions', { name })}
          items={[
            { label: say('rename'), run: () => askForPath(studio, path) },
            { label: say('deleteFile'), isDangerous: true, run: () => remove(studio, path) },
          ]}
        >
          <Icon name="more" size={16} />
        </Menu>
      )}
    </div>
  );
}

const START = 'cubes:\n  - name: \n    sql_table: \n\n    dimensions: []\n\n    measures: []\n';

function askForFile(studio: Studio) {
  const taken = (path: string) => studio.saved.peek().has(path);
  askText({
    title: say('newFile'),
    label: say('path'),
    value: 'model/cubes/new_cube.yml',
    action: say('create'),
    maxLength: 1024,
    onAnswer: (path) =>
      attempt(async () => {
        if (taken(path)) return toast(say('pathTaken'), { isProblem: true });
        await studio.write([{ path, content: /\.ya?ml$/.test(path) ? START : '' }]);
        studio.open.value = path;
      }),
  });
}

const askForPath = (studio: Studio, path: string) =>
  askText({
    title: say('rename'),
    label: say('path'),
    value: path,
    action: say('rename'),
    maxLength: 1024,
    onAnswer: (newPath) => attempt(async () => newPath !== path && studio.rename(path, newPath)),
  });

async function remove(studio: Studio, path: string) {
  const content = studio.textOf(path);
  await attempt(async () => {
    await studio.remove(path);
    toast(say('fileDeletedToast', { path }), {
      undo: async () => {
        if (content === undefined) return;
        await studio.write([{ path, content }]);
        studio.open.value = path;
      },
    });
  });
}
