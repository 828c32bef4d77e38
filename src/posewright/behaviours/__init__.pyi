from .behaviour import Behaviour as Behaviour
from .reading import behaviour_names as behaviour_names
from .reading import read_behaviour as read_behaviour
from .runner import BehaviourRunner as BehaviourRunner
from .runner import Tick as Tick
from .scan import Beams as Beams
from .scan import Scan as Scan
from .scan import Side as Side
