/**
 * What runs in the sandbox before the Python of a report. It takes lines of JSON: the source, the columns, the rows, and
 * whether there are more rows. It gives `rows` (dictionaries), `columns` and `rows_capped` to the source, and writes
 * `output`, or the error, to file descriptor 3. The kernel keeps the limits; the program can lower but not raise them.
 */
export const HARNESS = `
import json, os, resource, sys, traceback

MB = 1024 * 1024
for name, value in (
    (resource.RLIMIT_AS, 512 * MB),
    (resource.RLIMIT_FSIZE, 16 * MB),
    (resource.RLIMIT_NOFILE, 64),
    (resource.RLIMIT_NPROC, 2),
    (resource.RLIMIT_CORE, 0),
):
    resource.setrlimit(name, (value, value))

def number(text):
    if not isinstance(text, str):
        return text
    try:
        return int(text)
    except ValueError:
        return float(text)

def main():
    result = os.fdopen(3, "w", encoding="utf-8")
    source = json.loads(sys.stdin.buffer.readline())
    schema = json.loads(sys.stdin.buffer.readline())["schema"]
    data = json.loads(sys.stdin.buffer.readline())["data"]
    rows_capped = json.loads(sys.stdin.buffer.readline())["rowsCapped"]
    columns = [column["name"] for column in schema]
    for index, column in enumerate(schema):
        if column["column_type"] == "Number":
            for row in data:
                row[index] = number(row[index])
    rows = [dict(zip(columns, row)) for row in data]
    result.write(f"{len(rows)}\\n")
    result.flush()
    if rows_capped:
        print(f"The query has more rows: the program gets the first {len(rows)} only.", file=sys.stderr, flush=True)
    scope = {"__name__": "__main__", "rows": rows, "columns": columns, "rows_capped": rows_capped}
    try:
        try:
            exec(compile(source, "report.py", "exec"), scope)
        except SystemExit as end:
            if end.code not in (None, 0):
                raise
        answer = json.dumps({"output": scope.get("output")}, allow_nan=False, default=str)
    except BaseException as error:
        traceback.print_exc()
        said = f"{type(error).__name__}: {error}".encode(errors="backslashreplace").decode().replace("\\0", "\\\\x00")
        answer = json.dumps({"error": said})
    result.write(answer + "\\n")
    result.flush()

main()
`;
