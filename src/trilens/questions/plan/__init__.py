"""How many answers a study needs: its goal, who may come, and what simulated studies reach."""

from trilens.questions.plan.plan import Bought, KindPlan, Plan, plan

__all__ = ["Bought", "KindPlan", "Plan", "plan"]
