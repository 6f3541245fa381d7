/** Mutants that survive because they change nothing that anybody could notice. */
export const accepted: { file: string; text: string; why: string }[] = [];
