/** The tables that only this folder writes to. */
export const tables = ['job_schedules', 'jobs'] as const;
