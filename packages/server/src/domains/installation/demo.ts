import type { DemoStep } from '../../platform/demo.ts';
import { noteDemoSeeded } from './store.ts';

export const demoNoted: DemoStep = ({ tx }) => noteDemoSeeded(tx).then(() => {});
