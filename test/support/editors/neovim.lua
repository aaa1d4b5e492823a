-- A session of Neovim 0.7 or later with `reeve lsp`. Reads the command, the folder and the path of the results from the environment.
local folder = vim.env.SESSION_FOLDER
local results = {}

local function wait(what, isDone)
  if not vim.wait(60000, isDone, 20) then
    results.late = what
  end
end

local function diagnosticsNow()
  return vim.tbl_map(function(one)
    return { code = one.code or (one.user_data and one.user_data.lsp and one.user_data.lsp.code), line = one.lnum, column = one.col, message = one.message }
  end, vim.diagnostic.get(0))
end

local function ask(method, params)
  local answers = vim.lsp.buf_request_sync(0, method, params, 60000) or {}
  for _, answer in pairs(answers) do
    return answer.result
  end
end

local function at(line, column)
  -- The cursor of a session without a screen cannot stand behind the last character.
  return { textDocument = vim.lsp.util.make_text_document_params(), position = { line = line, character = column } }
end

vim.cmd('edit ' .. folder .. '/rules/a.yml')
vim.bo.filetype = 'yaml'
local client = vim.lsp.start_client({
  name = 'reeve',
  cmd = vim.json.decode(vim.env.SESSION_COMMAND),
  root_dir = folder,
})
vim.lsp.buf_attach_client(0, client)
wait('the problems of the opened file', function()
  return #diagnosticsNow() == 2
end)
results.opened = diagnosticsNow()

-- Typed into line 7: `if: pull_requst.draft` becomes `if: pull_request.`.
vim.api.nvim_buf_set_lines(0, 6, 7, false, { '    if: pull_request.' })
results.completed = vim.tbl_map(function(item)
  return item.label
end, ask('textDocument/completion', at(6, 21)).items)
vim.api.nvim_buf_set_lines(0, 6, 7, false, { '    if: pull_request.draft && green' })
results.hover = ask('textDocument/hover', at(6, 24))
results.declared = ask('textDocument/definition', at(6, 33))

wait('the problems of the changed file', function()
  return #diagnosticsNow() == 1
end)
results.changed = diagnosticsNow()
local params = vim.lsp.util.make_range_params()
params.range = { start = { line = 5, character = 0 }, ['end'] = { line = 5, character = 40 } }
params.context = { diagnostics = {} }
local actions = ask('textDocument/codeAction', params)
results.actions = vim.tbl_map(function(action)
  return action.title
end, actions)
local encoding = 'utf-16'
vim.lsp.util.apply_workspace_edit(actions[1].edit, encoding)
wait('no problems', function()
  return #diagnosticsNow() == 0
end)
results.corrected = vim.api.nvim_buf_get_lines(0, 5, 6, false)[1]

local file = io.open(vim.env.SESSION_RESULTS, 'w')
file:write(vim.json.encode(results))
file:close()
vim.lsp.stop_client(client)
vim.wait(5000, function()
  return vim.lsp.client_is_stopped(client)
end, 20)
vim.cmd('qa!')
