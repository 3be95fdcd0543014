"""Runs the scripts of action.yml, or of a job of Templates/gitlab-ci.yml, as a runner does.

  run.py github NAME=VALUE...    inputs of the action; prints its outputs as a JSON object, last of all
  run.py gitlab NAME=VALUE...    variables of the job

RUN_PATH is the PATH of the scripts. Exits with the status of the script that failed.
"""
import json, os, pathlib, re, shutil, subprocess, sys, tempfile, yaml

ROOT = pathlib.Path(__file__).resolve().parents[3]
runner, given = sys.argv[1], dict(word.split("=", 1) for word in sys.argv[2:])
work = pathlib.Path(tempfile.mkdtemp())
path = os.environ.get("RUN_PATH") or os.environ.get("PATH") or "/usr/local/bin:/usr/bin:/bin"
environment = {"PATH": path, "HOME": os.environ.get("HOME", str(work)), "LC_ALL": "C.UTF-8", "PERMCHECK_LOG": "none", "CI": "true"}


def known(keys, mapping, what):
    unknown = set(mapping) - set(keys)
    if unknown:
        sys.exit(f"run: {what}: {', '.join(sorted(unknown))}")


def outputs(file):
    return [line.split("=", 1) for line in file.read_text().splitlines()]


def github():
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    known(["name", "description", "inputs", "outputs", "runs"], action, "unknown keys")
    known(["using", "steps"], action["runs"], "unknown keys of runs")
    known(action["inputs"], given, "unknown inputs")
    values = {f"inputs.{name}": given.get(name, each.get("default", "")) for name, each in action["inputs"].items()}

    def value(text):
        return re.sub(r"\$\{\{ *([\w.-]+) *\}\}", lambda match: values[match.group(1)], text)

    files = {name: work / name.lower() for name in ["GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"]}
    for step in action["runs"]["steps"]:
        known(["id", "name", "shell", "env", "run"], step, "unknown keys of a step")
        if "${{" in step["run"] or step["shell"] != "bash":
            sys.exit("run: an expression in a script could be a command")
        for file in files.values():
            file.touch()
        files["GITHUB_OUTPUT"].write_text("")
        script = work / "script.sh"
        script.write_text(step["run"])
        # What GitHub runs for `shell: bash`.
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            env=environment | {name: value(text) for name, text in step["env"].items()}
            | {name: str(file) for name, file in files.items()}
            | {"GITHUB_ACTION_PATH": str(ROOT), "RUNNER_TEMP": str(work), "GITHUB_ACTIONS": "true"})
        for name, text in outputs(files["GITHUB_OUTPUT"]):
            values[f"steps.{step['id']}.outputs.{name}"] = text
        if done.returncode:
            break
    found = {name: values.get(re.sub(r"[${} ]", "", each["value"])) for name, each in action["outputs"].items()}
    print(json.dumps(found | {"summary": files["GITHUB_STEP_SUMMARY"].read_text()}), flush=True)
    return done.returncode


def gitlab():
    job = yaml.safe_load((ROOT / "Templates/gitlab-ci.yml").read_text())[".permcheck"]
    known(["variables", "script", "artifacts", "allow_failure"], job, "unknown keys")
    known(job["variables"], given, "unknown variables")
    # An image may have no bash.
    done = subprocess.run(
        ["sh", "-e", "-c", "\n".join(job["script"])], env=environment | job["variables"] | given | {"GITLAB_CI": "true"})
    for file in job["artifacts"]["paths"]:
        print(f"artifact: {file}: {os.path.exists(file)}", flush=True)
    if done.returncode in job["allow_failure"]["exit_codes"]:
        print("the job is shown with a warning", flush=True)
    return done.returncode


try:
    status = {"github": github, "gitlab": gitlab}[runner]()
finally:
    shutil.rmtree(work)
sys.exit(status)
