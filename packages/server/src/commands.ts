/** The commands of the program: what each one takes, and how it is called. */
import { basename, relative, resolve } from 'node:path';
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { StartupError } from './platform/startup-error.ts';

export interface Command {
  /** Its name in package.json of a checkout. */
  script: string;
  /** The arguments, as the usage shows them. */
  takes: string;
  does: string;
  hasFile: boolean;
  options: Record<string, { type: 'boolean' | 'string' }>;
}

export const COMMANDS = {
  'admin-key': {
    script: 'admin-key',
    takes: '[--user <username or email of an admin>]',
    does: 'makes another API key for an admin who lost theirs',
    hasFile: false,
    options: { user: { type: 'string' } },
  },
  'rotate-secret': {
    script: 'rotate-secret',
    takes: '',
    does: 'seals everything with the new secret key',
    hasFile: false,
    options: {},
  },
  'audit-verify': {
    script: 'audit:verify',
    takes: '[--seal <the newest seal that an earlier run printed>]',
    does: 'shows that nobody changed the audit log',
    hasFile: false,
    options: { seal: { type: 'string' } },
  },
  backup: {
    script: 'backup',
    takes: '<file that does not exist yet> [--with-secret-key] [--without-files]',
    does: 'writes the database and the files of deployments into one file',
    hasFile: true,
    options: { 'with-secret-key': { type: 'boolean' }, 'without-files': { type: 'boolean' } },
  },
  restore: {
    script: 'restore',
    takes: '<file of a backup> [--without-secret-key]',
    does: 'puts a backup into a new data dir or an empty external database',
    hasFile: true,
    options: { 'without-secret-key': { type: 'boolean' } },
  },
} as const satisfies Record<string, Command>;

export type CommandName = keyof typeof COMMANDS;

export const isCommand = (name: string): name is CommandName => Object.hasOwn(COMMANDS, name);

/** The message says what is wrong with the arguments. The usage is printed before it. */
export class UsageError extends StartupError {
  readonly command: CommandName;

  constructor(command: CommandName, message: string) {
    super(message);
    this.command = command;
  }
}

type Options<Name extends CommandName> = (typeof COMMANDS)[Name]['options'];
type Values<Name extends CommandName> = {
  [Option in keyof Options<Name>]?: Options<Name>[Option] extends { type: 'boolean' } ? boolean : string;
};

/** `file` is empty for commands that take none. */
export function readArgs<Name extends CommandName>(
  name: Name,
  args: string[],
): { values: Values<Name>; file: string } {
  const { hasFile, options }: Command = COMMANDS[name];
  const { values, positionals } = parse(name, { args, options, allowPositionals: hasFile });
  if (hasFile && (positionals.length !== 1 || !positionals[0])) {
    throw new UsageError(name, 'One file must be named.');
  }
  return { values: values as Values<Name>, file: hasFile ? resolve(positionals[0]!) : '' };
}

function parse(name: CommandName, given: ParseArgsConfig) {
  try {
    return parseArgs(given);
  } catch (error) {
    // Leaves out all but the first sentence: Node's advice is for programs that take any text as an argument.
    throw new UsageError(name, `${(error as Error).message.split('. ')[0]}.`);
  }
}

/** How the program was called, from the environment and the path of the program. */
export interface Invocation {
  env: NodeJS.ProcessEnv;
  path: string;
}

/** In a checkout, npm needs `--` before our options. */
const isByNpm = ({ env }: Invocation) =>
  env.npm_package_name === 'oriel' && env.npm_lifecycle_event !== 'npx';

function program(called: Invocation): string {
  if (called.env.npm_lifecycle_event === 'npx') return 'npx oriel-server';
  return basename(called.path) === 'oriel-server' ? 'oriel-server' : `node ${relative('', called.path)}`;
}

function lineOf(name: CommandName, called: Invocation): string {
  const { script, takes } = COMMANDS[name];
  if (!isByNpm(called)) return [program(called), name, takes].join(' ').trim();
  const isOptional = takes.startsWith('[');
  return `npm run ${script} ${isOptional ? takes.replace('[', '[-- ') : takes && `-- ${takes}`}`.trim();
}

export const usageOf = (name: CommandName, called: Invocation) => `Usage: ${lineOf(name, called)}\n`;

export function helpOf(name: string | undefined, called: Invocation): string {
  if (name !== undefined && isCommand(name)) {
    return `${usageOf(name, called)}\n${name} ${COMMANDS[name].does}.\n`;
  }
  const start = isByNpm(called) ? 'npm start' : program(called);
  const commands = Object.entries(COMMANDS).map(
    ([command, { does }]) => `  ${lineOf(command as CommandName, called)}\n      ${does}`,
  );
  return `Usage: ${start}\n      runs the server until it is told to stop\n\n${commands.join('\n')}\n`;
}

/** npm takes options that stand before `--` for itself, and says so only in the environment. */
export function requireOwnOptions(name: CommandName, called: Invocation) {
  if (!isByNpm(called)) return;
  const taken = Object.keys(COMMANDS[name].options).find(
    (option) => called.env[`npm_config_${option.replaceAll('-', '_')}`] !== undefined,
  );
  if (taken) throw new UsageError(name, `npm has taken --${taken} for itself: write -- before it.`);
}
