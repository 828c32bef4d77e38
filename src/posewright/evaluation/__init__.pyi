from .motion.thresholds import PhysicsRules as PhysicsRules
from .walking.report import GaitReport as GaitReport
