/** Checks parameters, query and body against the contract, and says precisely what is wrong. */
import { bodyKindOf, type Operation, patternMessages } from '@oriel/contract';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import ajvFormats from 'ajv-formats';
import { type Static, type TObject, type TProperties, type TSchema, Type } from 'typebox';
import { ApiError, type Issue } from '../errors.ts';
import { isDateTime } from './date-time.ts';
import { FormFields } from './form-body.ts';
import { MultipartValue } from './multipart-body.ts';
import { namesInAnyCase } from './names-in-any-case.ts';
import { HALF_A_CHARACTER, unstorable } from './unstorable.ts';

type Values = Record<string, unknown>;

/** Nothing is converted, added or removed: a body is accepted as it is, or refused. */
const options = { strict: true, allowUnionTypes: true, coerceTypes: false, removeAdditional: false } as const;
/** Addresses are checked as browsers read them, so international names and brackets are allowed. */
const addFormats = (ajv: Ajv) =>
  ajvFormats
    .default(ajv)
    .addFormat('date-time', isDateTime)
    .addFormat('uri', (text) => URL.canParse(text));
const firstError = addFormats(new Ajv(options));
const allErrors = addFormats(new Ajv({ ...options, allErrors: true }));

const ISSUES_MAX = 20;
/**
 * For larger bodies only the first error is searched, because a huge invalid body must not cost more than a valid one.
 */
const LIST_ALL_BELOW_BYTES = 100_000;

const NO_VALUES: Values = {};

export interface Validators {
  params(raw: unknown): Values;
  query(raw: unknown): Values;
  headers(raw: unknown): Values;
  body(raw: unknown, sizeBytes: number): unknown;
  /** Throws an internal error, because wrong headers are a fault of the handler and not of the caller. */
  replyHeaders(values: Values): void;
}

/** Once in a process, because tests start many servers in one. */
const validators = new WeakMap<Operation, Validators>();

export function compileValidators(op: Operation): Validators {
  const made = validators.get(op) ?? makeValidators(op);
  validators.set(op, made);
  return made;
}

function makeValidators(op: Operation): Validators {
  let replyHeaders: ValidateFunction | undefined;
  return {
    params: compileTexts(op.params),
    query: compileTexts(op.query),
    headers: compileTexts(op.headers),
    body: compileBody(op),
    replyHeaders(values) {
      replyHeaders ??= firstError.compile(Type.Object(op.replyHeaders, { additionalProperties: false }));
      if (replyHeaders(values)) return;
      throw new Error(
        `${op.id} sends headers that its contract refuses: ${firstError.errorsText(replyHeaders.errors)}`,
      );
    },
  };
}

function compileTexts(schemas: TProperties) {
  if (Object.keys(schemas).length === 0) return () => NO_VALUES;
  const { check } = compile(Type.Object(schemas));
  return (raw: unknown) => check(fromText(raw as Values, schemas), 0) as Values;
}

function compileBody(op: Operation): Validators['body'] {
  const body = bodyKindOf(op);
  if (!body) return () => undefined;
  const required = failure([
    { path: '', message: body.kind === 'json' ? 'is required, as JSON' : 'is required' },
  ]);
  if (body.kind === 'bytes') {
    return (raw) => {
      if (raw === undefined) throw required;
      return raw;
    };
  }
  const { check } = compile(body.schema);
  const named = body.kind === 'json' && body.inAnyCase ? namesInAnyCase(body.schema) : undefined;
  const form = body.kind === 'formOrJson' && body.form !== body.schema ? compile(body.form).check : check;
  const formProperties = (body.kind === 'formOrJson' ? body.form : (body.schema as TObject)).properties;
  return (raw, sizeBytes) => {
    if (raw === undefined && !op.optionalBody) throw required;
    const properties = (body.schema as TObject).properties;
    if (raw instanceof FormFields) return form(fromFields(raw.texts, formProperties), sizeBytes);
    if (raw instanceof MultipartValue) {
      return { fields: check(fromFields(raw.fields, properties), sizeBytes), files: raw.files };
    }
    const value = raw === undefined ? {} : raw;
    return check(named ? named(value) : value, sizeBytes);
  };
}

/** Compiles at the first value, so that a start does not wait for the schemas of all operations. */
function compile(schema: TSchema) {
  let fast: ValidateFunction | undefined;
  let thorough: ValidateFunction | undefined;
  return {
    check(value: unknown, sizeBytes: number) {
      fast ??= firstError.compile(schema);
      if (fast(value)) return value;
      let errors = fast.errors ?? [];
      if (sizeBytes < LIST_ALL_BELOW_BYTES) {
        thorough ??= allErrors.compile(schema);
        thorough(value);
        errors = thorough.errors ?? errors;
      }
      throw failure(errors.map(toIssue));
    },
  };
}

/** For values that a handler has put together from a request: returns the value, or throws a 400. */
export function checkerOf<S extends TSchema>(schema: S) {
  const { check } = compile(schema);
  return (value: unknown) => check(value, 0) as Static<S>;
}

function failure(issues: Issue[]): ApiError {
  const [first] = issues;
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : '';
  const where = first?.path ? `${first.path}: ` : 'The body ';
  return new ApiError('invalid_request', {
    message: `${where}${first?.message}${more}`,
    issues: issues.slice(0, ISSUES_MAX),
  });
}

/** `/userAttributes/1/name` as `userAttributes[1].name`. */
const readablePath = (pointer: string) =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part, i) => (/^\d+$/.test(part) ? `[${part}]` : i ? `.${part}` : part))
    .join('');

function toIssue({ keyword, instancePath, params }: ErrorObject): Issue {
  const path = readablePath(instancePath);
  const below = (name: string) => (path ? `${path}.${name}` : name);
  if (keyword === 'additionalProperties')
    return { path: below(params.additionalProperty), message: 'is not a known field' };
  if (keyword === 'required') return { path: below(params.missingProperty), message: 'is required' };
  return { path, message: messageFor(keyword, params) };
}

/** Messages for people. The validator's own messages contain its keywords and regular expressions. */
function messageFor(keyword: string, params: ErrorObject['params']): string {
  const { limit } = params;
  switch (keyword) {
    case 'enum':
      return `must be one of ${params.allowedValues.map((v: unknown) => JSON.stringify(v)).join(', ')}`;
    case 'type':
      return `must be ${typeText([params.type].flat())}`;
    case 'pattern':
      return patternMessages[params.pattern] ?? 'does not have the required form';
    case 'format':
      return `must be ${FORMATS[params.format] ?? `of the format ${params.format}`}`;
    case 'minLength':
      return `must have at least ${counted(limit, 'character')}`;
    case 'maxLength':
      return `must have at most ${counted(limit, 'character')}`;
    case 'minItems':
      return `must have at least ${counted(limit, 'item')}`;
    case 'maxItems':
      return `must have at most ${counted(limit, 'item')}`;
    case 'minProperties':
      return `must have at least ${counted(limit, 'field')}`;
    case 'maxProperties':
      return `must have at most ${counted(limit, 'field')}`;
    case 'minimum':
      return `must be ${limit} or more`;
    case 'maximum':
      return `must be ${limit} or less`;
    case 'uniqueItems':
      return 'must not have the same item twice';
    default:
      return 'does not match any of the allowed forms';
  }
}

const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;

const TYPES: Record<string, string> = {
  string: 'text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
};

function typeText(types: string[]): string {
  const named = types.filter((type) => type !== 'null').map((type) => TYPES[type] ?? type);
  return named.join(' or ') + (types.includes('null') ? ', or null' : '');
}

const FORMATS: Record<string, string> = {
  email: 'an email address such as ada@example.com, with a domain in ASCII (xn--…)',
  uri: 'a valid address (URL)',
  'date-time': 'a date and time with a time zone, such as 2026-01-31T09:30:00Z',
};

/**
 * Converts texts of an address to the types of the schema. A text that cannot be converted stays text and fails the
 * check.
 */
function fromText(raw: Values, schemas: Record<string, TSchema>): Values {
  const values: Values = {};
  for (const name in schemas) {
    const given = raw[name];
    if (given === undefined) continue;
    const value = convert(name, given as string | string[], schemas[name] as unknown as JsonSchema);
    if (value !== undefined) values[name] = value;
  }
  return values;
}

/**
 * Converts the texts of a form. Fields that the schema does not know are kept, so that the check refuses them by name.
 */
function fromFields(texts: Record<string, string>, schemas: Record<string, TSchema>): Values {
  const unknown = Object.entries(texts).filter(([name]) => !Object.hasOwn(schemas, name));
  return { ...fromText(texts, schemas), ...Object.fromEntries(unknown) };
}

interface JsonSchema {
  type?: string | string[];
  enum?: unknown[];
  items?: JsonSchema;
}

function convert(name: string, given: string | string[], schema: JsonSchema): unknown {
  const types = [schema.type ?? []].flat();
  const isNothing = (text: string) =>
    (types.includes('null') || schema.enum?.includes(null)) && (text === '' || text === 'null');
  if (types.includes('array')) {
    const texts = [given].flat().filter((text) => !isNothing(text));
    return texts.length ? texts.map((text) => convertOne(name, text, schema.items ?? {})) : undefined;
  }
  if (Array.isArray(given)) throw failure([{ path: name, message: 'is given more than once' }]);
  return isNothing(given) ? undefined : convertOne(name, given, schema);
}

function convertOne(name: string, text: string, schema: JsonSchema): unknown {
  requireText(name, text);
  const types = [schema.type ?? []].flat();
  if (types.includes('integer') || types.includes('number'))
    return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
  if (types.includes('boolean')) return text === 'true' ? true : text === 'false' ? false : text;
  return text;
}

/** PostgreSQL cannot store NUL or half of a surrogate pair, so we refuse them. */
function requireText(name: string, text: string) {
  if (text.includes('\0')) throw unstorable(name, 'NUL (U+0000)');
  if (!text.isWellFormed()) throw unstorable(name, HALF_A_CHARACTER);
}
