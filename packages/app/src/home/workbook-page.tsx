/** A workbook: its dashboard, and its reports. */

import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useCommands } from '../commands.ts';
import { api } from '../data/api.ts';
import { useData } from '../data/cache.ts';
import type { PageProps } from '../page-props.ts';
import { Icon } from '../parts/icons.tsx';
import { Menu, type MenuItem } from '../parts/menu.tsx';
import { Empty, Failed, Skeleton } from '../parts/states.tsx';
import { attempt } from '../parts/toasts.tsx';
import { addressOf, isEmbedded } from '../place.ts';
import { openSchedules } from '../schedules/open.ts';
import { openShare } from '../sharing/open.ts';
import { say as sayAll } from '../texts/say.ts';
import { askForName, askForPlace, duplicate, remove } from './actions.tsx';
import { cacheKey, leaving, useRights } from './data.ts';
import { downloadDashboard } from './download.ts';
import { isPublished, keyOfItem } from './items.ts';
import { List } from './list.tsx';
import { type Outline, Picture } from './picture.tsx';
import { say } from './say.ts';

export const texts = say;

export default function WorkbookPage({ params }: PageProps) {
  const { route } = useLocation();
  const deploymentId = Number(params.deploymentId);
  const workbookId = Number(params.workbookId);
  const [selected, select] = useState<ReadonlySet<string>>(new Set());
  const {
    data: workbook,
    problem,
    reload,
  } = useData(cacheKey(deploymentId, `workbook/${workbookId}`), (signal) =>
    api.getWorkbook({ deploymentId, workbookId }, { signal }),
  );
  const { data: reports } = useData(
    cacheKey(deploymentId, `reports/${workbookId}`),
    async (signal) =>
      (await api.getReports({ deploymentId, workbookId, first: 500, includeCount: false }, { signal })).items,
  );
  const shown = reports?.filter((report) => !leaving.value.has(keyOfItem(report)));
  const rights = useRights(deploymentId, [...(workbook ? [workbook] : []), ...(shown ?? [])]);
  const mine = workbook && rights.of(workbook);
  const toExplore = `${addressOf(deploymentId, 'explore')}?workbookId=${workbookId}`;
  useCommands(
    workbook && mine?.canEdit
      ? [{ id: 'rename', title: say('rename'), run: () => askForName(workbook) }]
      : [],
  );
  useEffect(() => {
    if (workbook) document.title = `${workbook.name} · ${sayAll('appName')}`;
  }, [workbook?.name]);
  if (!workbook || !mine) return problem ? <Failed problem={problem} retry={reload} /> : <Skeleton />;

  const menu: (MenuItem | false)[] = [
    mine.canEdit && { label: say('rename'), run: () => askForName(workbook) },
    mine.canMove && { label: say('move'), run: () => askForPlace([workbook], () => {}) },
    rights.canCreate && { label: say('duplicate'), run: () => void duplicate(workbook) },
    mine.canMove && {
      label: say('remove'),
      begins: true,
      isDangerous: true,
      run: () => {
        remove([workbook]);
        route(
          workbook.folderId
            ? addressOf(deploymentId, 'folder', { folderId: workbook.folderId })
            : addressOf(deploymentId, 'home'),
        );
      },
    },
  ];
  const items = menu.filter((entry) => entry !== false);
  return (
    <>
      <div class="page-head">
        <div class="grow">
          <nav class="path" aria-label={say('path')}>
            <a href={addressOf(deploymentId, 'home')}>{say('root')}</a>
            {(workbook.folderPath ?? []).map(({ id, name }) => (
              <a key={id} href={addressOf(deploymentId, 'folder', { folderId: id })}>
                {name}
              </a>
            ))}
          </nav>
          <h1>{workbook.name}</h1>
        </div>
        <div class="buttons">
          {mine.canManage && (
            <button type="button" class="with-icon" onClick={() => openShare(workbook)}>
              <Icon name="share" size={16} />
              {say('share')}
            </button>
          )}
          {items.length > 0 && (
            <Menu label={say('actionsFor', { name: workbook.name })} items={items}>
              <Icon name="more" />
            </Menu>
          )}
        </div>
      </div>
      <DashboardCard
        deploymentId={deploymentId}
        workbookId={workbookId}
        name={workbook.name}
        publicId={workbook.publishedDashboard?.publicId}
        isPublished={isPublished(workbook)}
        hasDraft={Boolean(workbook.dashboardDraft)}
        outline={workbook.dashboardOutline}
        canEdit={mine.canEdit}
        canEmbed={mine.canManage && !isEmbedded}
      />
      <section class="reports" aria-labelledby="reports">
        <div class="page-head">
          <h2 id="reports" class="grow">
            {say('reports')}
          </h2>
          {mine.canEdit && (
            <a class="button" href={toExplore}>
              {say('exploreData')}
            </a>
          )}
        </div>
        {!shown && <Skeleton lines={3} />}
        {shown && shown.length > 0 && (
          <List
            items={shown}
            rightsOf={rights.of}
            canCreate={mine.canEdit}
            selected={selected}
            select={select}
            showsPlace={false}
          />
        )}
        {shown?.length === 0 && (
          <Empty title={say('noReports')} hint={mine.canEdit ? say('noReportsHint') : undefined} />
        )}
      </section>
    </>
  );
}

function DashboardCard(given: {
  deploymentId: number;
  workbookId: number;
  name: string;
  publicId: string | undefined;
  isPublished: boolean;
  hasDraft: boolean;
  outline: Outline | null | undefined;
  canEdit: boolean;
  canEmbed: boolean;
}) {
  const { deploymentId, workbookId, name, publicId, canEdit } = given;
  return (
    <section class="dashboard-card" aria-labelledby="dashboard">
      {given.outline?.length ? <Picture outline={given.outline} /> : <Icon name="dashboard" size={28} />}
      <div class="grow">
        <h2 id="dashboard">{say('dashboard')}</h2>
        <p class="soft">{given.isPublished ? say('published') : say('noDashboard')}</p>
      </div>
      {publicId && !isEmbedded && (
        <a
          class="button"
          href={`/embed/dashboard/${encodeURIComponent(publicId)}`}
          target="_blank"
          rel="noreferrer"
        >
          {say('viewDashboard')}
        </a>
      )}
      {given.canEmbed && (
        <a class="button" href={addressOf(deploymentId, 'embed', { workbookId })}>
          {say('embedDashboard')}
        </a>
      )}
      {publicId && given.isPublished && !isEmbedded && (
        <Menu
          class="with-icon"
          items={(['png', 'pdf'] as const).map((format) => ({
            label: say('downloadAs', { format: format.toUpperCase() }),
            run: () => void attempt(() => downloadDashboard({ deploymentId, workbookId, name, format })),
          }))}
        >
          {say('download')}
        </Menu>
      )}
      {publicId && given.isPublished && (
        <button
          type="button"
          class="with-icon"
          onClick={() => openSchedules({ deploymentId, workbookId, publicId, name })}
        >
          <Icon name="recent" size={16} />
          {say('schedules')}
        </button>
      )}
      {canEdit && (
        <a class="button primary" href={addressOf(deploymentId, 'dashboard', { workbookId })}>
          {say(given.isPublished || given.hasDraft ? 'editDashboard' : 'makeDashboard')}
        </a>
      )}
    </section>
  );
}
