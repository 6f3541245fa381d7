/**
 * Guarantees, each with a change of the code that breaks it. `npm run test:mutants` makes each change in a copy and
 * expects one of the tests to fail. Add each new guarantee that matters to the file of its part.
 */
import { audit } from './audit.ts';
import { auth } from './auth.ts';
import { builds } from './builds.ts';
import { clickhouse } from './clickhouse.ts';
import { dashboards } from './dashboards.ts';
import { dataModels } from './data-models.ts';
import { database } from './database.ts';
import { deployments } from './deployments.ts';
import { domains } from './domains.ts';
import { embeddedPage } from './embedded-page.ts';
import { engines } from './engines.ts';
import { git } from './git.ts';
import { http } from './http.ts';
import { identities } from './identities.ts';
import { jobs } from './jobs.ts';
import type { Mutant } from './mutant.ts';
import { outbound } from './outbound.ts';
import { pages } from './pages.ts';
import { project } from './project.ts';
import { queries } from './queries.ts';
import { scim } from './scim.ts';
import { signIn } from './sign-in.ts';
import { sqlReports } from './sql-reports.ts';
import { users } from './users.ts';

export const mutants: Mutant[] = [
  ...audit,
  ...auth,
  ...dashboards,
  ...dataModels,
  ...builds,
  ...clickhouse,
  ...database,
  ...deployments,
  ...domains,
  ...embeddedPage,
  ...engines,
  ...git,
  ...http,
  ...identities,
  ...jobs,
  ...outbound,
  ...pages,
  ...project,
  ...queries,
  ...scim,
  ...signIn,
  ...sqlReports,
  ...users,
];
