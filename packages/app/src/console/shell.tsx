/**
 * What is around each page of the console: its title, the pages beside it, and nothing at all for a person who may not
 * see it.
 */
import type { ComponentChildren, ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useCommands } from '../commands.ts';
import { sideGroups } from '../frame/side-groups.ts';
import type { PageProps } from '../page-props.ts';
import { Empty, Skeleton } from '../parts/states.tsx';
import { addressOf } from '../place.ts';
import { say as sayAll } from '../texts/say.ts';
import { type ConsoleRights, useConsoleRights } from './rights.ts';
import { say } from './say.ts';
import { type ConsoleRoute, entryOf, sectionsFor } from './sections.ts';

export interface ConsolePageProps {
  deploymentId: number;
  rights: ConsoleRights;
}

export function consolePage(route: ConsoleRoute, Content: ComponentType<ConsolePageProps>) {
  return function Page({ params }: PageProps) {
    const deploymentId = Number(params.deploymentId);
    const { route: go } = useLocation();
    const rights = useConsoleRights(deploymentId);
    const entry = entryOf(route);
    const title = say(entry?.title ?? 'admin');
    const sections = sectionsFor(rights);
    useEffect(() => {
      document.title = `${title} · ${sayAll('appName')}`;
    }, [title]);
    useEffect(() => {
      sideGroups.value = sections.map((section) => ({
        title: say(section.title),
        links: section.pages.map((page) => ({
          title: say(page.title),
          address: addressOf(deploymentId, page.route),
        })),
      }));
    });
    useCommands(
      sections
        .flatMap(({ pages }) => pages)
        .map((page) => ({
          id: `go-${page.route}`,
          title: `${say('admin')}: ${say(page.title)}`,
          run: () => go(addressOf(deploymentId, page.route)),
        })),
    );
    useEffect(
      () => () => {
        sideGroups.value = [];
      },
      [],
    );
    if (!rights.isKnown) return <Skeleton />;
    const isFound = entry ? entry.isFor(rights) : sections.length > 0;
    if (!isFound) return <Empty title={sayAll('notFound')} hint={sayAll('notFoundHint')} />;
    return <Content deploymentId={deploymentId} rights={rights} />;
  };
}

/** The head of a page of the console, with what can be made there. */
export const PageHead = ({
  title,
  hint,
  children,
}: {
  title: string;
  hint?: string;
  children?: ComponentChildren;
}) => (
  <div class="page-head">
    <div class="grow">
      <h1>{title}</h1>
      {hint && <p class="soft">{hint}</p>}
    </div>
    {children && <div class="buttons">{children}</div>}
  </div>
);
