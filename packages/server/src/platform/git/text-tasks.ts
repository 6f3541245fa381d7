import { type DiffAnswer, type DiffTask, diffFiles } from './diff-files.ts';
import { type MergeAnswer, type MergeTask, mergeFiles } from './merge-files.ts';

/** Plain data, because it goes to a thread and back. */
export type TextTask = MergeTask | DiffTask;

/** `steps` are those that are left. None are left if the task could not be finished. */
export type TextAnswer<Task> = Task extends MergeTask ? MergeAnswer : DiffAnswer;

export const answerTask = <Task extends TextTask>(task: Task & { steps: number }) =>
  (task.kind === 'merge' ? mergeFiles(task) : diffFiles(task)) as TextAnswer<Task>;
