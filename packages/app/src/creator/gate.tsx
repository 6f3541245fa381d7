/** Shows the app while its session lives, and otherwise says why there is nothing to see. */
import type { ComponentChildren } from 'preact';
import { Empty, Skeleton } from '../parts/states.tsx';
import { locale } from '../texts/index.ts';
import { say } from '../texts/say.ts';
import { appConfig, phase } from './session.ts';

export function Gate({ children }: { children: ComponentChildren }) {
  if (phase.value === 'ready') return <>{children}</>;
  return <main class="gate">{phase.value === 'starting' ? <Skeleton /> : <Notice />}</main>;
}

function Notice() {
  const isEnded = phase.value === 'ended';
  const title = { waiting: 'waiting', ended: 'ended', refused: 'refused', failed: 'pageFailed' } as const;
  return (
    <div role="alert">
      <Empty
        title={say(title[phase.value as keyof typeof title])}
        hint={say(isEnded || phase.value === 'waiting' ? 'reloadHint' : 'refusedHint')}
      />
    </div>
  );
}

/** The title that the account gave to the workspace, in the language of the app if there is one. */
export function workspaceTitle(): string | undefined {
  const settings = appConfig.value?.creatorMode;
  if (!settings || settings.showWorkspaceTitle === false) return undefined;
  const tag = locale.value.toLowerCase();
  const titles = settings.localizedTitles ?? [];
  const found =
    titles.find((one) => one.locale.toLowerCase() === tag) ??
    titles.find((one) => one.locale.toLowerCase().split('-')[0] === tag.split('-')[0]);
  return found?.value || settings.workspaceTitle || undefined;
}
