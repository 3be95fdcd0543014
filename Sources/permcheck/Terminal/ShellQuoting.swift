import PermissionKit

/// Returns an argument quoted for a shell.
func shellQuoted(_ argument: PathBytes) -> String { argument.shellQuoted }
