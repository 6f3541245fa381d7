import type { DemoStep } from '../../platform/demo.ts';
import type { AttributeType } from './rules.ts';
import * as store from './store.ts';

const ATTRIBUTES: [name: string, type: AttributeType, displayName: string, description: string][] = [
  ['region', 'string', 'Region', 'The sales region whose rows a viewer sees'],
  ['tier', 'number', 'Tier', 'The level of the contract, from 1 to 3'],
  ['regions', 'string_array', 'Regions', 'All sales regions whose rows a viewer sees'],
  ['thresholds', 'number_array', 'Thresholds', 'Revenue from which rows are marked, lowest first'],
  ['is_partner', 'boolean', 'Partner', 'Whether the viewer belongs to a partner'],
];

export const demoAttributes: DemoStep = async ({ tx }) => {
  for (const [name, type, displayName, description] of ATTRIBUTES) {
    await store.insertMissingAttribute(tx, { name, type, displayName, defaultValue: null, description });
  }
};
