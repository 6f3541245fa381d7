/** A chart that asks for too much, or for what it may not have: nothing of it is drawn. */
export class ChartRefusedError extends Error {}
