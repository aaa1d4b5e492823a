// src/engine/budgets.ts
var budgets = {
  delivery: { all: 50, repository: 20 },
  hour: { all: 500, repository: 100 }
};

export {
  budgets
};
