/** A data model in which each cube is joined to the one before it. */
export function chainedModel({ cubes, views }: { cubes: number; views: number }): Map<string, string> {
  const files = new Map<string, string>();
  const every = cubes / views;
  for (let i = 0; i < cubes; i++) {
    files.set(`model/cubes/c${i}.yml`, cubeOf(i));
    if (i % every === every - 1) files.set(`model/views/v${i}.yml`, viewOf(i));
  }
  return files;
}

function cubeOf(i: number): string {
  const join =
    i === 0
      ? ''
      : `    joins:\n      - { name: c${i - 1}, relationship: many_to_one, sql: "{CUBE}.p = {c${i - 1}.id}" }\n`;
  const dimensions = Array.from(
    { length: 11 },
    (_, n) =>
      `      - name: d${n}\n        title: Dimension ${n}\n        sql: column_${n}\n        type: ${n % 4 ? 'string' : 'time'}\n`,
  );
  const measures = Array.from(
    { length: 5 },
    (_, n) =>
      `      - name: m${n}\n        sql: "{CUBE}.amount_${n} * {d${n + 1}}"\n        type: sum\n        filters:\n          - sql: "{d1} = 'x'"\n`,
  );
  return `cubes:\n  - name: c${i}\n    sql_table: public.t${i}\n${join}    dimensions:\n      - { name: id, sql: id, type: number, primary_key: true }\n${dimensions.join('')}    measures:\n      - { name: count, type: count }\n${measures.join('')}    access_policy:\n      - group: "*"\n        row_level:\n          filters:\n            - { member: d1, operator: equals, values: ["{ userAttributes.region }"] }\n`;
}

const viewOf = (i: number) =>
  `views:\n  - name: v${i}\n    cubes:\n      - { join_path: c${i}, includes: "*" }\n      - { join_path: c${i}.c${i - 1}, includes: "*", prefix: true }\n`;
