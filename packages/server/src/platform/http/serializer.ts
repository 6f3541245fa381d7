/**
 * Serialises replies by their schema. A schema is compiled for its first reply, so that a start does not wait for all
 * schemas.
 */
import fastJsonStringify from 'fast-json-stringify';
import type { TObject, TSchema } from 'typebox';

type Compile = (schema: object) => (value: unknown) => string;
const compile = fastJsonStringify as unknown as Compile;

/** A list that is already JSON text. */
class JsonText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** Puts JSON text into a reply in place of the list that it holds. */
export const jsonText = <Items>(text: string) => new JsonText(text) as Items;

const compiled = new WeakMap<TSchema, (value: unknown) => string>();

export const serializerOf = (reply: TSchema) => (value: unknown) => {
  const write = compiled.get(reply) ?? (repeatsItems(reply) ? listSerializer(reply) : compile(reply));
  compiled.set(reply, write);
  return write(value);
};

const repeatsItems = (reply: TSchema): reply is TObject => {
  const { properties } = reply as TObject;
  return properties !== undefined && 'items' in properties && 'data' in properties;
};

/** Lists repeat their `items` as the deprecated `data`, so the text is written once and used twice. */
function listSerializer(reply: TObject): (value: unknown) => string {
  const { items, data: _data, ...rest } = reply.properties;
  const writeItems = compile(items!);
  const writeRest = compile({
    type: 'object',
    properties: rest,
    required: reply.required?.filter((name) => name in rest),
  });
  return (value) => {
    const { items: list } = value as { items: unknown };
    const text = list instanceof JsonText ? list.text : writeItems(list);
    const others = writeRest(value).slice(1);
    return `{"items":${text},"data":${text}${others === '}' ? '' : ','}${others}`;
  };
}
