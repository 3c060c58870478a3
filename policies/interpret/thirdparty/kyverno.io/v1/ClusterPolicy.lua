-- ClusterPolicy, kyverno.io/v1: https://kyverno.io/docs/crds/

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

-- rules adds up the rules by what they do.
local function rules(items)
  local totals
  for _, item in ipairs(items) do
    for name, n in pairs((item.status or {}).rulecount or {}) do
      totals = totals or {}
      totals[name] = (totals[name] or 0) + n
    end
  end
  return totals
end

-- ready says whether a policy is used; versions before 1.9 have no condition.
local function ready(status)
  local c = condition(status, "Ready")
  return c.status == "True" or (c.status == nil and (status or {}).ready == true)
end

function InterpretHealth(obj)
  return ready(obj.status)
end

function AggregateStatus(obj, items)
  local status, all, generated = obj.status or {}, #items > 0, nil
  for _, item in ipairs(items) do
    local s = item.status or {}
    all = all and ready(item.status)
    status.autogen = s.autogen or status.autogen
    if s.validatingadmissionpolicy then
      generated = generated or s.validatingadmissionpolicy.generated
    end
  end
  status.ready = all
  status.rulecount = rules(items)
  status.conditions = merged(items, { Ready = true })
  status.validatingadmissionpolicy = generated ~= nil and {
    generated = generated,
    message = said(items, function(s)
      return (s.validatingadmissionpolicy or {}).message
    end) or "",
  } or nil
  obj.status = status
  return obj
end

function ReflectStatus(obj)
  return report(obj, { "ready", "conditions", "autogen", "rulecount", "validatingadmissionpolicy" })
end
