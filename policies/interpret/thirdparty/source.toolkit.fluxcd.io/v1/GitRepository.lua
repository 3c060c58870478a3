-- GitRepository, source.toolkit.fluxcd.io/v1: https://fluxcd.io/flux/components/source/gitrepositories/

-- observed says whether every cluster has acted on the template as it stands.
local function observed(obj, items)
  for _, item in ipairs(items) do
    local s = item.status
    if not s or (s.observedGeneration or 0) < (s.generation or 0)
      or (s.resourceTemplateGeneration or 0) < (obj.metadata.generation or 0) then
      return false
    end
  end
  return true
end

-- report picks fields of the status, and notes which generations they are about.
local function report(obj, fields)
  if not obj.status then
    return nil
  end
  local annotations = obj.metadata.annotations or {}
  local picked = {
    generation = obj.metadata.generation,
    resourceTemplateGeneration = tonumber(annotations["resourcetemplate.karmada.io/generation"]),
  }
  for _, field in ipairs(fields) do
    picked[field] = obj.status[field]
  end
  return picked
end

-- current says whether the status is about the spec as it stands.
local function current(obj)
  return obj.status ~= nil and (obj.status.observedGeneration or 0) == (obj.metadata.generation or 0)
end

-- condition finds a condition by its type; an empty one if there is none.
local function condition(status, name)
  for _, c in ipairs((status or {}).conditions or {}) do
    if c.type == name then
      return c
    end
  end
  return {}
end

-- said joins what the clusters say, each after its name.
local function said(items, read)
  local parts = {}
  for _, item in ipairs(items) do
    local text = read(item.status or {})
    if text and text ~= "" then
      table.insert(parts, item.clusterName .. ": " .. text)
    end
  end
  return #parts > 0 and table.concat(parts, "; ") or nil
end

-- merged makes one condition of each type. Those in all are True where every cluster
-- says so, and Unknown if one says nothing; any other is True where one cluster says so.
local function merged(items, all)
  local conditions, seen = {}, {}
  for _, item in ipairs(items) do
    for _, c in ipairs((item.status or {}).conditions or {}) do
      if not seen[c.type] then
        seen[c.type] = true
        table.insert(conditions, { type = c.type })
      end
    end
  end
  for _, one in ipairs(conditions) do
    local order = all[one.type] and "False Unknown True" or "True Unknown False"
    for _, item in ipairs(items) do
      local c = condition(item.status, one.type)
      local status = c.status or (all[one.type] and "Unknown" or "False")
      if not one.status or string.find(order, status) < string.find(order, one.status) then
        one.status, one.reason = status, c.reason or "NotReported"
      end
      if (c.lastTransitionTime or "") > (one.lastTransitionTime or "") then
        one.lastTransitionTime = c.lastTransitionTime
      end
    end
    one.message = said(items, function(s)
      return condition(s, one.type).message
    end)
  end
  return #conditions > 0 and conditions or nil
end

-- artifact is what all clusters have fetched; nil if their revisions differ.
local function artifact(items)
  local first = ((items[1] or {}).status or {}).artifact or {}
  for _, item in ipairs(items) do
    if ((item.status or {}).artifact or {}).revision ~= first.revision then
      return nil
    end
  end
  return first.revision and first or nil
end

-- need adds a reference to a list, unless it has no name.
local function need(list, apiVersion, kind, namespace, name)
  if name and name ~= "" then
    table.insert(list, { apiVersion = apiVersion, kind = kind, namespace = namespace, name = name })
  end
end

function InterpretHealth(obj)
  return current(obj) and condition(obj.status, "Ready").status == "True"
end

function AggregateStatus(obj, items)
  local status = obj.status or {}
  status.artifact = artifact(items)
  status.conditions = merged(items, { Ready = true, ArtifactInStorage = true, SourceVerified = true })
  if observed(obj, items) then
    status.observedGeneration = obj.metadata.generation
  end
  obj.status = next(status) and status or nil
  return obj
end

-- People pause it in its cluster; a template that says nothing of that leaves it so.
function Retain(desired, observed)
  if observed.spec and desired.spec.suspend == nil then
    desired.spec.suspend = observed.spec.suspend
  end
  return desired
end

function ReflectStatus(obj)
  return report(obj, {
    "observedGeneration", "conditions", "artifact",
  })
end

function GetDependencies(obj)
  local spec, namespace, found = obj.spec, obj.metadata.namespace, {}
  need(found, "v1", "Secret", namespace, (spec.secretRef or {}).name)
  need(found, "v1", "Secret", namespace, (spec.proxySecretRef or {}).name)
  need(found, "v1", "Secret", namespace, ((spec.verify or {}).secretRef or {}).name)
  need(found, "v1", "ServiceAccount", namespace, spec.serviceAccountName)
  for _, include in ipairs(spec.include or {}) do
    need(found, obj.apiVersion, obj.kind, namespace, (include.repository or {}).name)
  end
  return found
end
