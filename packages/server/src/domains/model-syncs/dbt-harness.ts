/**
 * What runs in the sandbox: it writes the project to the temporary folder, lets dbt parse it, and copies the manifest to
 * file descriptor 3. The kernel keeps the limits.
 */
export const HARNESS = `
import json, os, resource, shutil, sys, threading

MB = 1024 * 1024
for name, value in (
    (resource.RLIMIT_AS, 3072 * MB),
    (resource.RLIMIT_FSIZE, 256 * MB),
    (resource.RLIMIT_NOFILE, 256),
    (resource.RLIMIT_NPROC, 64),
    (resource.RLIMIT_CORE, 0),
):
    resource.setrlimit(name, (value, value))

os.environ.update(HOME="/tmp", DBT_SEND_ANONYMOUS_USAGE_STATS="False", DO_NOT_TRACK="1")
head = json.loads(sys.stdin.buffer.readline())
for path, size in head["files"]:
    target = os.path.join("/tmp/project", path)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(target, "wb") as file:
        file.write(sys.stdin.buffer.read(size))

# dbt works with several processes, whose locks need a writable /dev/shm. Here it is threads of one process.
import concurrent.futures, multiprocessing.context
concurrent.futures.ProcessPoolExecutor = concurrent.futures.ThreadPoolExecutor
multiprocessing.context.BaseContext.RLock = lambda self: threading.RLock()
multiprocessing.context.BaseContext.Lock = lambda self: threading.Lock()

try:
    import yaml
    from dbt.cli.main import dbtRunner
except ImportError:
    sys.exit(3)

def adapters():
    from importlib.util import find_spec
    login = {"host": "localhost", "user": "nobody", "password": "none", "port": 1}
    known = {
        "duckdb": {"path": ":memory:"},
        "postgres": {**login, "dbname": "postgres"},
        "clickhouse": {**login},
    }
    for name, fields in known.items():
        if find_spec(f"dbt.adapters.{name}"):
            yield {"type": name, "schema": head["schema"] or "main", **fields}

profiles = "/tmp/project"
if not os.path.exists("/tmp/project/profiles.yml"):
    profiles = "/tmp/profiles"
    os.makedirs(profiles)
    with open("/tmp/project/dbt_project.yml") as file:
        name = (yaml.safe_load(file) or {}).get("profile") or "default"
    with open(profiles + "/profiles.yml", "w") as file:
        json.dump({name: {"target": "prod", "outputs": {"prod": next(adapters(), {})}}}, file)

folders = ["--project-dir", "/tmp/project", "--profiles-dir", profiles]
made = ["--target-path", "/tmp/target", "--log-path", "/tmp/logs"]
done = dbtRunner().invoke(["--no-use-colors", "--no-partial-parse", "parse", *folders, *made])
if not done.success:
    if done.exception:
        print(done.exception)
    sys.exit(1)
with open("/tmp/target/manifest.json", "rb") as manifest, os.fdopen(3, "wb") as result:
    shutil.copyfileobj(manifest, result)
`;
