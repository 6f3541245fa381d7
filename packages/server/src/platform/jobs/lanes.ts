/**
 * How many jobs of each lane a worker runs at once. A kind of job names its lane, so that long jobs of one lane do not
 * delay another. Before a lane is removed from here, a migration moves its waiting jobs to another one.
 */
export const LANES = {
  default: 2,
  /** Deletes many rows, in batches. */
  removals: 2,
  /** Compiles data models, each in a thread of its own. */
  builds: 2,
  /** Makes data models of projects of other tools. They wait for repositories, and take turns where they need memory. */
  syncs: 3,
  /** Waits for servers of others, such as git hosts. */
  remotes: 2,
  /** Sends events to webhooks, many at once in each job. */
  webhooks: 1,
  /** Sends mail, through a server of others. */
  mails: 2,
  /** Claims due times of schedules: short, but there may be thousands at the same minute. */
  clock: 2,
  /** Runs notifications: asks data sources, draws, and sends. A long run is done in turns. */
  notifications: 2,
};

export type Lane = keyof typeof LANES;

/**
 * The lanes in which deployments take turns (round-robin), and within each deployment the sharers that payloads name as
 * `sharer`, such as embed tenants: who was served last comes last. Each deployment has one job at a time.
 */
export const FAIR_LANES: readonly string[] = ['syncs', 'remotes', 'notifications'] satisfies Lane[];
