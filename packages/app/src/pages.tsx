/** The pages by their routes. Each is loaded when it is first shown, with its texts. */
import type { ComponentType } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';
import { askForMeta } from './data/meta.ts';
import { type Problem, problemOf } from './data/problem.ts';
import { useDeployments } from './frame/account.ts';
import type { PageProps } from './page-props.ts';
import { Empty, Failed, Skeleton } from './parts/states.tsx';
import { addressOf } from './place.ts';
import type { RouteName } from './routes.ts';
import { say } from './texts/say.ts';

interface PageModule {
  default: ComponentType<PageProps>;
  texts?: { ready(): Promise<void> };
}

/** The most deployments that one reply lists: a list of this length may be incomplete. */
const DEPLOYMENTS_MAX = 1000;

/** `ask` asks the server meanwhile for what the page begins with. */
function page(
  load: () => Promise<PageModule>,
  ask?: (deploymentId: number) => void,
): ComponentType<PageProps> {
  let Loaded: ComponentType<PageProps> | undefined;
  return function Page(properties: PageProps) {
    // The account has an address without a deployment, too.
    const id = Number(properties.params.deploymentId ?? 0);
    const { data: deployments } = useDeployments();
    const [problem, setProblem] = useState<Problem>();
    const [, setLoaded] = useState(Loaded !== undefined);
    const start = () => {
      if (Number.isSafeInteger(id) && id !== 0) ask?.(id);
      setProblem(undefined);
      load()
        .then(async (module) => {
          await module.texts?.ready();
          Loaded = module.default;
          setLoaded(true);
        })
        .catch((error) => setProblem(problemOf(error)));
    };
    // Before the skeleton is painted: the sooner it is asked, the sooner it is there.
    useLayoutEffect(() => {
      if (!Loaded) start();
    }, []);
    const isUnknown =
      id !== 0 &&
      deployments !== undefined &&
      deployments.length < DEPLOYMENTS_MAX &&
      !deployments.some((one) => Number(one.id) === id);
    if (!Number.isSafeInteger(id) || isUnknown)
      return <Empty title={say('notFound')} hint={say('notFoundHint')} />;
    if (Loaded) return <Loaded {...properties} />;
    return problem ? <Failed problem={problem} retry={start} /> : <Skeleton />;
  };
}

const Home = page(
  () => import('./home/page.tsx'),
  // The same page is that of other lists. What asks is not loaded where it is not needed.
  (id) => {
    if (location.pathname === addressOf(id, 'home') && !location.search)
      void import('./home/data.ts').then(({ askForHome }) => askForHome(id)).catch(() => {});
  },
);
const Workbook = page(() => import('./home/workbook-page.tsx'));
const Explore = page(() => import('./explore/page.tsx'), askForMeta);
const Dashboard = page(() => import('./dashboard/page.tsx'));

export const PAGES: Record<RouteName, ComponentType<PageProps>> = {
  home: Home,
  recent: Home,
  mine: Home,
  shared: Home,
  folder: Home,
  workbook: Workbook,
  dashboard: Dashboard,
  embed: page(() => import('./embedding/page.tsx')),
  explore: Explore,
  report: Explore,
  reportInWorkbook: Explore,
  account: page(() => import('./account/page.tsx')),
  admin: page(() => import('./console/page.tsx')),
  adminSources: page(() => import('./sources/page.tsx')),
  adminModels: page(() => import('./studio/page.tsx')),
  adminPolicies: page(() => import('./studio/access-page.tsx')),
  adminGit: page(() => import('./console/integrations/git-page.tsx')),
  adminWebhooks: page(() => import('./console/integrations/webhooks-page.tsx')),
  adminServices: page(() => import('./console/integrations/services-page.tsx')),
  adminUsers: page(() => import('./console/people/users-page.tsx')),
  adminGroups: page(() => import('./console/people/groups-page.tsx')),
  adminRoles: page(() => import('./console/people/roles-page.tsx')),
  adminApiKeys: page(() => import('./console/people/api-keys-page.tsx')),
  adminAttributes: page(() => import('./console/people/attributes-page.tsx')),
  adminSignIn: page(() => import('./console/people/sign-in-page.tsx')),
  adminTenants: page(() => import('./console/embedding/tenants-page.tsx')),
  adminSessions: page(() => import('./console/embedding/sessions-page.tsx')),
  adminDryRun: page(() => import('./console/embedding/dry-run-page.tsx')),
  adminViewer: page(() => import('./console/embedding/viewer-page.tsx')),
  adminEmbedding: page(() => import('./console/embedding/settings-page.tsx')),
  adminQueries: page(() => import('./console/operations/queries-page.tsx')),
  adminJobs: page(() => import('./console/operations/jobs-page.tsx')),
  adminUsage: page(() => import('./console/operations/usage-page.tsx')),
  adminNotices: page(() => import('./console/operations/notices-page.tsx')),
  adminServers: page(() => import('./console/operations/servers-page.tsx')),
  adminDeployments: page(() => import('./console/operations/deployments-page.tsx')),
  adminDeployment: page(() => import('./console/operations/deployment-page.tsx')),
  adminAuditLog: page(() => import('./console/operations/audit-log-page.tsx')),
};
