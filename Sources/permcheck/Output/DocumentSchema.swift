import PermissionKit

/// The JSON Schema of what `permcheck check --json` and `permcheck explain --json` print, and of
/// the lines of `permcheck watch --json`.
enum DocumentSchema {
  private static func list(_ values: some Sequence<String>) -> String {
    values.map { "\"\($0)\"" }.joined(separator: ", ")
  }

  static var text: String {
    """
    {
      "$schema": "https://json-schema.org/draft/2020-12/schema",
      "title": "permcheck check --json, permcheck explain --json",
      "description": "Paths are UTF-8; a byte that is not, and the backslash, reads \\\\xNN. A line of permcheck watch --json is #/$defs/change.",
      "type": "object",
      "additionalProperties": false,
      "required": ["schemaVersion", "tool", "subject", "reports", "exitStatus"],
      "properties": {
        "schemaVersion": {"const": 1},
        "tool": {
          "type": "object",
          "additionalProperties": false,
          "required": ["name", "version"],
          "properties": {"name": {"const": "permcheck"}, "version": {"type": "string"}}
        },
        "subject": {
          "type": "object",
          "additionalProperties": false,
          "required": ["source", "uid", "gid", "groups", "capabilities"],
          "properties": {
            "source": {"enum": ["self", "user", "ids", "process"]},
            "user": {"type": "string"},
            "uid": {"type": "integer", "minimum": 0, "maximum": 4294967295},
            "gid": {"type": "integer", "minimum": 0, "maximum": 4294967295},
            "groups": {"type": "array", "items": {"type": "integer", "minimum": 0}},
            "capabilities": {"type": "array", "items": {"type": "string"}}
          }
        },
        "reports": {"type": "array", "items": {"$ref": "#/$defs/report"}},
        "exitStatus": {"enum": [0, 1, 2, 3, 77]},
        "plans": {
          "type": "array",
          "description": "Of request: what is to be changed.",
          "items": {"$ref": "#/$defs/plan"}
        },
        "applied": {"type": "boolean", "description": "Of request: whether it was changed."},
        "credentials": {
          "type": "object",
          "description": "Of explain: the subject in full, for permcheck evaluate."
        },
        "facts": {
          "type": "object",
          "description": "Of explain: all that was read, for permcheck evaluate."
        },
        "targets": {
          "type": "array",
          "description": "Of explain: what was asked, for permcheck evaluate."
        }
      },
      "$defs": {
        "status": {"enum": [\(list(AuthorizationStatus.allCases.map(\.rawValue)))]},
        "report": {
          "type": "object",
          "additionalProperties": false,
          "required": ["accessor", "status", "requestable", "resources"],
          "properties": {
            "accessor": {"type": "string"},
            "status": {"$ref": "#/$defs/status"},
            "requestable": {"type": "boolean"},
            "resources": {"type": "array", "items": {"$ref": "#/$defs/resource"}}
          }
        },
        "plan": {
          "type": "object",
          "additionalProperties": false,
          "required": [
            "accessor", "strategy", "steps", "outcome", "needsNewLogin", "needsRoot",
            "persistence", "othersAffected", "warnings"
          ],
          "properties": {
            "accessor": {"type": "string"},
            "strategy": {"enum": ["auto", "acl", "group", "udev", "none"]},
            "steps": {
              "type": "array",
              "items": {
                "type": "object",
                "additionalProperties": false,
                "required": ["place", "change", "command", "needsRoot", "persistence"],
                "properties": {
                  "place": {"type": "string"},
                  "change": {"type": "string"},
                  "command": {"type": "array", "items": {"type": "string"}},
                  "needsRoot": {"type": "boolean"},
                  "persistence": {"type": "string"}
                }
              }
            },
            "outcome": {"enum": ["granted", "refused", "undetermined"]},
            "needsNewLogin": {"type": "boolean"},
            "needsRoot": {"type": "boolean"},
            "persistence": {"type": "string"},
            "othersAffected": {"type": "array", "items": {"type": "string"}},
            "warnings": {"type": "array", "items": {"type": "string"}}
          }
        },
        "resource": {
          "type": "object",
          "additionalProperties": false,
          "required": ["path", "label", "device", "need", "status", "reasons", "remedies"],
          "properties": {
            "path": {"type": "string"},
            "label": {"type": "string"},
            "device": {
              "type": "string",
              "description": "Resources of one device are needed together."
            },
            "need": {"type": "string", "pattern": "^r?w?x?$"},
            "status": {"$ref": "#/$defs/status"},
            "decision": {"$ref": "#/$defs/decision"},
            "probe": {
              "type": "object",
              "additionalProperties": false,
              "required": ["method"],
              "properties": {
                "method": {"enum": ["open", "access"]},
                "errno": {"type": "string"}
              }
            },
            "reasons": {"type": "array", "items": {"$ref": "#/$defs/reason"}},
            "remedies": {"type": "array", "items": {"$ref": "#/$defs/remedy"}},
            "walk": {
              "type": "array",
              "description": "Of explain: each component, root first.",
              "items": {"$ref": "#/$defs/component"}
            }
          }
        },
        "change": {
          "type": "object",
          "description": "A line of permcheck watch --json; the first of an accessor has no old.",
          "additionalProperties": false,
          "required": ["schemaVersion", "time", "accessor", "new"],
          "dependentRequired": {"old": ["cause"], "cause": ["old"]},
          "properties": {
            "schemaVersion": {"const": 1},
            "time": {"type": "string", "format": "date-time"},
            "accessor": {"type": "string"},
            "old": {"$ref": "#/$defs/status"},
            "new": {"$ref": "#/$defs/status"},
            "cause": {"enum": [\(list(ChangeCause.allCases.map(\.rawValue)))]},
            "path": {"type": "string", "description": "Where the cause is."},
            "reason": {"enum": [\(list(Reason.Code.allCases.map(\.rawValue)))]},
            "message": {"type": "string"},
            "resources": {
              "type": "array",
              "description": "With -v: what stands otherwise than before.",
              "items": {
                "type": "object",
                "additionalProperties": false,
                "required": ["path"],
                "properties": {
                  "path": {"type": "string"},
                  "old": {"$ref": "#/$defs/status"},
                  "new": {"$ref": "#/$defs/status"}
                }
              }
            }
          }
        },
        "component": {
          "type": "object",
          "additionalProperties": false,
          "required": ["component", "verdict", "decides"],
          "properties": {
            "component": {"type": "string"},
            "kind": {"enum": [
              "directory", "regular", "symbolic-link", "character-device", "block-device", "fifo",
              "socket"
            ]},
            "mode": {"type": "string", "pattern": "^[0-7]{4}$"},
            "uid": {"type": "integer"},
            "gid": {"type": "integer"},
            "acl": {"type": "array", "items": {"type": "string"}},
            "target": {"type": "string"},
            "need": {"type": "string", "pattern": "^r?w?x?$"},
            "verdict": {"enum": ["granted", "refused", "undetermined", "not-reached"]},
            "rule": {"type": "string"},
            "decides": {"type": "boolean"}
          }
        },
        "decision": {
          "type": "object",
          "additionalProperties": false,
          "required": ["verdict", "rule"],
          "properties": {
            "verdict": {"enum": ["granted", "refused", "undetermined"]},
            "errno": {"type": "string"},
            "rule": {"type": "string"},
            "component": {"type": "string"},
            "meaning": {
              "type": "string",
              "description": "Of explain and -v: how long and where what was granted holds."
            }
          }
        },
        "reason": {
          "type": "object",
          "additionalProperties": false,
          "required": ["code", "certainty", "message", "evidence"],
          "properties": {
            "code": {"enum": [\(list(Reason.Code.allCases.map(\.rawValue)))]},
            "certainty": {"enum": ["proven", "suspected"]},
            "message": {"type": "string"},
            "evidence": {"type": "array", "items": {"type": "string"}}
          }
        },
        "remedy": {
          "type": "object",
          "additionalProperties": false,
          "required": [
            "kind", "command", "needsRoot", "persistence", "othersAffected", "outcome"
          ],
          "properties": {
            "kind": {"type": "string"},
            "command": {"type": "array", "items": {"type": "string"}},
            "needsRoot": {"type": "boolean"},
            "persistence": {
              "enum": ["until-udev-event", "until-reboot", "until-logout", "permanent"]
            },
            "othersAffected": {"type": "array", "items": {"type": "string"}},
            "outcome": {
              "enum": ["granted", "refused", "undetermined"],
              "description": "By simulation; undetermined where that cannot be simulated."
            },
            "line": {"type": "string", "description": "A line to add to a file."},
            "note": {"type": "string", "description": "Why the usual advice is worse."}
          }
        }
      }
    }

    """
  }
}
