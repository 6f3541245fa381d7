export { type AttributeType, parseDefault } from './rules.ts';
